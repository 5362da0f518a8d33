import type { Command } from 'commander'
import { PetrelError, unlessThrown } from '../../../src/base/errors.ts'
import { dagJson, readAny } from '../../../src/codec/anyCbor.ts'
import { CODEC_CBOR, CODEC_DAG_CBOR, parseCid } from '../../../src/codec/cid.ts'
import { type Json, parseJson, stringifyJson } from '../../../src/codec/jsonText.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import type { JsonBlock, JsonCid, JsonTipset } from '../answers.ts'
import { cidTexts } from '../answers.ts'
import { addressArgument, base64ToHex, type CliContext, hexToBase64, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { binarySize, goStamp } from '../goFormat.ts'
import type { RpcClient } from '../rpcClient.ts'

const DEFAULT_FORMAT = '<epoch>: (<time>) <blocks>'
const GAS_PRICE_BLOCKS = [1, 2, 3, 5, 10, 20, 50, 100, 300]
const DEFAULT_GAS_LIMIT = 10_000

async function head({ io, node, result }: CliContext, options: { height?: boolean }): Promise<void> {
  const tipset = await (await node()).call('ChainHead')
  result({ Height: tipset.Height, Cids: cidTexts(tipset.Cids) })
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
    '<json_tipset>': () => stringifyJson(tipset),
  }
  return format.replace(/<[a-z_]+>/g, (name) => values[name]?.() ?? name)
}

async function listTipsets(
  { io, node, result }: CliContext,
  options: { epoch?: string; count: string; format: string },
): Promise<void> {
  const client = await node()
  const count = wholeNumber(options.count, 'count')
  let tipset =
    options.epoch === undefined
      ? await client.call('ChainHead')
      : await client.call('ChainGetTipSetByHeight', [wholeNumber(options.epoch, 'epoch'), null])
  const found: JsonTipset[] = []
  while (found.length < count) {
    found.push(tipset)
    if (tipset.Height === 0) break
    tipset = await client.call('ChainGetTipSet', [(tipset.Blocks[0] as JsonBlock).Parents])
  }
  found.reverse()
  result(found)
  for (const shown of found) line(io, tipsetText(shown, options.format))
}

async function getBlock({ io, node, result }: CliContext, cid: string, options: { raw?: boolean }): Promise<void> {
  const client = await node()
  const key: JsonCid = { '/': cid }
  const block = await client.call('ChainGetBlock', [key])
  if (options.raw === true) {
    result(block)
    line(io, stringifyJson(block, 2))
    return
  }
  const [messages, receipts, parents] = [
    await client.call('ChainGetBlockMessages', [key]),
    await client.call('ChainGetParentReceipts', [key]),
    await client.call('ChainGetParentMessages', [key]),
  ]
  const all = {
    ...block,
    BlsMessages: messages.BlsMessages,
    SecpkMessages: messages.SecpkMessages,
    ParentReceipts: receipts,
    ParentMessages: parents === null ? null : parents.map((message) => message.Cid),
  }
  result(all)
  line(io, stringifyJson(all, 2))
}

/** Prints an answer as JSON, with and without `--json`. */
async function show({ io, node, result }: CliContext, ask: (client: RpcClient) => Promise<Json>): Promise<void> {
  const answer = await ask(await node())
  result(answer)
  line(io, stringifyJson(answer, 2))
}

/** With `--json` as DAG-JSON: whatever the block is, nobody has described it. */
async function readObject({ io, node, result, isJson }: CliContext, cid: string): Promise<void> {
  const data = Buffer.from((await (await node()).call('ChainReadObj', [{ '/': cid }])) ?? '', 'base64')
  line(io, data.toString('hex'))
  if (!isJson()) return
  const isCbor = [CODEC_DAG_CBOR, CODEC_CBOR].includes(parseCid(cid).codec)
  result(isCbor ? dagJson(readAny(data)) : { '/': { bytes: data.toString('base64').replace(/=+$/, '') } })
}

async function statObject({ io, node, result }: CliContext, cid: string, base: string | undefined): Promise<void> {
  const params = [{ '/': cid }, base === undefined ? null : { '/': base }] as const
  const stat = await (await node()).call('ChainStatObj', params)
  result({ ...stat })
  line(io, `Links: ${stat.Links}`)
  line(io, `Size: ${binarySize(stat.Size)} (${stat.Size})`)
}

const EMPTY_KEY = null

async function decodeParams(
  { io, node, result }: CliContext,
  to: string,
  method: string,
  params: string,
  encoding: string,
): Promise<void> {
  if (encoding !== 'base64' && encoding !== 'hex') {
    throw new CliError('USAGE', `encoding: expected base64 or hex, got "${encoding}"`)
  }
  const data = encoding === 'hex' ? hexToBase64(params, 'params') : params
  const call = [addressArgument(to), wholeNumber(method, 'method'), data, EMPTY_KEY] as const
  const answer = await (await node()).call('StateDecodeParams', call)
  result(answer)
  line(io, stringifyJson(answer, 2))
}

async function encodeParams(
  { io, node, result }: CliContext,
  actor: string,
  method: string,
  params: string,
  encoding: string,
): Promise<void> {
  const client = await node()
  const cid = unlessThrown(() => parseCid(actor), PetrelError)
  // An address stands for its actor's code.
  const code: Json =
    cid === undefined
      ? (await client.call('StateGetActor', [addressArgument(actor), EMPTY_KEY])).Code
      : { '/': cid.toString() }
  const json = parseJson(params)
  const data = (await client.call('StateEncodeParams', [code, wholeNumber(method, 'method'), json], 'v1')) ?? ''
  const text = encoding === 'hex' ? base64ToHex(data) : data
  result({ Params: text })
  line(io, text)
}

/** `/pstate/…`: below the state before the head, or before a tipset. @see lotus cli/chain.go ChainGetCmd */
async function getPath(context: CliContext, path: string, tipset: string | undefined): Promise<void> {
  if (!path.startsWith('/pstate')) return show(context, (client) => client.call('ChainGetNode', [path]))
  const client = await context.node()
  const key = tipset === undefined || tipset === '@head' ? null : tipset.split(',').map((cid) => ({ '/': cid.trim() }))
  const of = key === null ? await client.call('ChainHead') : await client.call('ChainGetTipSet', [key])
  const root = (of.Blocks[0] as JsonBlock).ParentStateRoot['/']
  // The state root names its version, the tree of actors and an info block.
  const below = `/ipfs/${root}/1${path.slice('/pstate'.length)}`
  return show(context, (node) => node.call('ChainGetNode', [below]))
}

async function setHead(
  context: CliContext,
  cids: readonly string[],
  options: { epoch?: string; genesis?: boolean },
): Promise<void> {
  const client = await context.node()
  let key: readonly JsonCid[] = cids.map((cid) => ({ '/': cid }))
  if (options.genesis === true) key = (await client.call('ChainGetGenesis')).Cids
  else if (options.epoch !== undefined) {
    key = (await client.call('ChainGetTipSetByHeight', [wholeNumber(options.epoch, 'epoch'), null])).Cids
  }
  if (key.length === 0)
    throw new CliError('USAGE', 'must pass cids for tipset to set as head, or --epoch, or --genesis')
  await client.call('ChainSetHead', [key])
  context.result({ Cids: cidTexts(key) })
}

async function gasPrice({ io, node, result }: CliContext): Promise<void> {
  const client = await node()
  const prices: { [blocks: string]: Json } = {}
  for (const blocks of GAS_PRICE_BLOCKS) {
    const premium = await client.call('GasEstimateGasPremium', [blocks, '<empty>', DEFAULT_GAS_LIMIT, null])
    prices[String(blocks)] = premium
    line(io, `${blocks} blocks: ${premium} (${formatFil(BigInt(premium))})`)
  }
  result(prices)
}

/**
 * `chain head|list|get|getblock|getmessage|read-obj|stat-obj|sethead|encode|decode|gas-price`.
 * @see lotus cli/chain.go
 */
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
    .action((cid: string) => show(context, (client) => client.call('ChainGetMessage', [{ '/': cid }])))
  chain
    .command('read-obj')
    .description('Read the raw bytes of an object, hexadecimal')
    .argument('<cid>')
    .action((cid: string) => readObject(context, cid))
  chain
    .command('stat-obj')
    .alias('stat')
    .description('Collect size and ipld link counts for objs')
    .argument('<cid>')
    .option('--base <cid>', 'ignore links found in this obj')
    .action((cid: string, options: { base?: string }) => statObject(context, cid, options.base))
  chain
    .command('get')
    .description('Get chain DAG node by path: /ipfs/<cid>/…, /ipld/…, <cid>/…, /pstate/…')
    .argument('<path>')
    .option('--tipset <cids>', 'tipset for /pstate')
    .action((path: string, options: { tipset?: string }) => getPath(context, path, options.tipset))
  chain
    .command('sethead')
    .alias('set-head')
    .description('Manually set the local nodes head tipset (Caution: normally only used for recovery)')
    .argument('[tipsetKey...]')
    .option('--epoch <n>', 'reset head to the given epoch')
    .option('--genesis', 'reset head to genesis')
    .action((cids: string[], options: { epoch?: string; genesis?: boolean }) => setHead(context, cids, options))
  chain
    .command('decode')
    .description('Decode various types')
    .command('params')
    .description('Decode message params')
    .argument('<toAddr>')
    .argument('<method>')
    .argument('<params>')
    .option('--encoding <form>', 'base64 or hex', 'base64')
    .action((to: string, method: string, params: string, options: { encoding: string }) =>
      decodeParams(context, to, method, params, options.encoding),
    )
  chain
    .command('encode')
    .description('Encode various types')
    .command('params')
    .description('Encode message params from JSON')
    .argument('<actor>', "address of an actor, or its code's CID")
    .argument('<method>')
    .argument('<params>', 'JSON')
    .option('--encoding <form>', 'base64 or hex', 'base64')
    .action((actor: string, method: string, params: string, options: { encoding: string }) =>
      encodeParams(context, actor, method, params, options.encoding),
    )
  chain
    .command('gas-price')
    .description('Estimate gas prices')
    .action(() => gasPrice(context))
}
