/** `chain head|list|getblock|getmessage|read-obj|gas-price`. @see lotus cli/chain.go */
import type { Command } from 'commander'
import { type Json, stringifyJson } from '../../../src/codec/jsonText.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import type { JsonBlock, JsonCid, JsonMessage, JsonTipset } from '../answers.ts'
import { cidTexts } from '../answers.ts'
import { base64ToHex, type CliContext, wholeNumber } from '../context.ts'
import { goStamp } from '../goFormat.ts'

const DEFAULT_FORMAT = '<epoch>: (<time>) <blocks>'
const GAS_PRICE_BLOCKS = [1, 2, 3, 5, 10, 20, 50, 100, 300]
const DEFAULT_GAS_LIMIT = 10_000

async function head({ io, node }: CliContext, options: { height?: boolean }): Promise<void> {
  const tipset = await (await node()).call<JsonTipset>('ChainHead')
  if (options.height === true) line(io, String(tipset.Height))
  else for (const text of cidTexts(tipset.Cids)) line(io, text)
}

function tipsetText(tipset: JsonTipset, format: string): string {
  const first = tipset.Blocks[0] as JsonBlock
  const blocks = tipset.Cids.map((cid, i) => `${cid['/']}: ${(tipset.Blocks[i] as JsonBlock).Miner},`).join('')
  const values: Record<string, () => string> = {
    '<epoch>': () => String(tipset.Height),
    '<time>': () => goStamp(first.Timestamp),
    '<blocks>': () => `[ ${blocks} ]`,
    '<weight>': () => first.ParentWeight,
    '<tipset>': () => `[${cidTexts(tipset.Cids).join(',')}]`,
    '<json_tipset>': () => stringifyJson(tipset as unknown as Json),
  }
  return format.replace(/<[a-z_]+>/g, (name) => values[name]?.() ?? name)
}

async function listTipsets(
  { io, node }: CliContext,
  options: { epoch?: string; count: string; format: string },
): Promise<void> {
  const client = await node()
  const count = wholeNumber(options.count, 'count')
  let tipset =
    options.epoch === undefined
      ? await client.call<JsonTipset>('ChainHead')
      : await client.call<JsonTipset>('ChainGetTipSetByHeight', [wholeNumber(options.epoch, 'epoch'), null])
  const found: JsonTipset[] = []
  while (found.length < count) {
    found.push(tipset)
    if (tipset.Height === 0) break
    tipset = await client.call<JsonTipset>('ChainGetTipSet', [(tipset.Blocks[0] as JsonBlock).Parents])
  }
  for (const one of found.reverse()) line(io, tipsetText(one, options.format))
}

async function getBlock({ io, node }: CliContext, cid: string, options: { raw?: boolean }): Promise<void> {
  const client = await node()
  const key: JsonCid = { '/': cid }
  const block = await client.call<JsonBlock>('ChainGetBlock', [key])
  if (options.raw === true) {
    line(io, stringifyJson(block as unknown as Json, 2))
    return
  }
  const [messages, receipts, parents] = [
    await client.call<{ BlsMessages: Json; SecpkMessages: Json }>('ChainGetBlockMessages', [key]),
    await client.call<Json>('ChainGetParentReceipts', [key]),
    await client.call<{ Cid: JsonCid }[] | null>('ChainGetParentMessages', [key]),
  ]
  const all = {
    ...(block as unknown as Record<string, Json>),
    BlsMessages: messages.BlsMessages,
    SecpkMessages: messages.SecpkMessages,
    ParentReceipts: receipts,
    ParentMessages: parents === null ? null : parents.map((one) => one.Cid as unknown as Json),
  }
  line(io, stringifyJson(all, 2))
}

async function getMessage({ io, node }: CliContext, cid: string): Promise<void> {
  line(
    io,
    stringifyJson((await (await node()).call<JsonMessage>('ChainGetMessage', [{ '/': cid }])) as unknown as Json, 2),
  )
}

async function readObject({ io, node }: CliContext, cid: string): Promise<void> {
  line(io, base64ToHex(await (await node()).call<string | null>('ChainReadObj', [{ '/': cid }])))
}

async function gasPrice({ io, node }: CliContext): Promise<void> {
  const client = await node()
  for (const blocks of GAS_PRICE_BLOCKS) {
    const premium = await client.call<string>('GasEstimateGasPremium', [blocks, '<empty>', DEFAULT_GAS_LIMIT, null])
    line(io, `${blocks} blocks: ${premium} (${formatFil(BigInt(premium))})`)
  }
}

export function addChainCommands(program: Command, context: CliContext): void {
  const chain = program.command('chain').description('Interact with the chain')
  chain
    .command('head')
    .description('Print chain head')
    .option('--height', 'print just the epoch number of the chain head')
    .action((options: { height?: boolean }) => head(context, options))
  chain
    .command('list')
    .alias('love')
    .description('View a segment of the chain, oldest first')
    .option('--epoch <n>', 'last epoch of the segment (default: that of the head)')
    .option('--count <n>', 'number of tipsets', '30')
    .option(
      '--format <text>',
      'format of a line: <epoch> <time> <blocks> <weight> <tipset> <json_tipset>',
      DEFAULT_FORMAT,
    )
    .action((options: { epoch?: string; count: string; format: string }) => listTipsets(context, options))
  chain
    .command('get-block')
    .alias('getblock')
    .description('Get a block and print its details')
    .argument('<cid>')
    .option('--raw', 'print just the raw block header')
    .action((cid: string, options: { raw?: boolean }) => getBlock(context, cid, options))
  chain
    .command('getmessage')
    .aliases(['get-message', 'get-msg'])
    .description('Get and print a message by its CID')
    .argument('<cid>')
    .action((cid: string) => getMessage(context, cid))
  chain
    .command('read-obj')
    .description('Read the raw bytes of an object, hexadecimal')
    .argument('<cid>')
    .action((cid: string) => readObject(context, cid))
  chain
    .command('gas-price')
    .description('Estimate gas prices')
    .action(() => gasPrice(context))
}
