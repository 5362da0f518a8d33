import type { Command } from 'commander'
import { type Json, stringifyJson } from '../../../src/codec/jsonText.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import { cidTexts, type JsonCid, type JsonMsgLookup, type JsonTipset, subcallsOf } from '../answers.ts'
import { addressArgument, base64ToHex, type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { goList } from '../goFormat.ts'
import type { RpcClient } from '../rpcClient.ts'
import { addStateQueries } from './stateQueries.ts'
import { callText, printSubcalls, tipsetKey } from './stateText.ts'

/** Confidence of `state wait-msg`, epochs. */
const WAIT_CONFIDENCE = 5

/** Name of the actor that a code CID stands for, e.g. `fil/18/account`, or `<unknown>`. */
async function codeName(client: RpcClient, code: JsonCid): Promise<string> {
  const version = await client.call('StateNetworkVersion', [null])
  const codes = await client.call('StateActorCodeCIDs', [version], 'v1').catch(() => ({}))
  for (const [name, cid] of Object.entries(codes)) if ((cid as JsonCid)['/'] === code['/']) return name
  return '<unknown>'
}

async function getActor({ io, node, result }: CliContext, text: string, tipset: string | undefined): Promise<void> {
  const address = addressArgument(text)
  const client = await node()
  const actor = await client.call('StateGetActor', [address, await tipsetKey(client, tipset)])
  result({ Address: address, ...actor })
  line(io, `Address:\t${address}`)
  line(io, `Balance:\t${formatFil(BigInt(actor.Balance))}`)
  line(io, `Nonce:\t\t${actor.Nonce}`)
  line(io, `Code:\t\t${actor.Code['/']} (${await codeName(client, actor.Code)})`)
  line(io, `Head:\t\t${actor.Head['/']}`)
  if (actor.DelegatedAddress !== null) line(io, `Delegated address:\t\t${actor.DelegatedAddress}`)
}

async function lookup(
  { io, node, result }: CliContext,
  text: string,
  reverse: boolean | undefined,
  tipset: string | undefined,
): Promise<void> {
  const client = await node()
  const params = [addressArgument(text), await tipsetKey(client, tipset)] as const
  const found = await client.call(reverse === true ? 'StateAccountKey' : 'StateLookupID', params)
  result({ Address: found })
  line(io, found)
}

async function printLookup({ io, result }: CliContext, cid: string, found: JsonMsgLookup): Promise<void> {
  result(found)
  if (found.Message['/'] !== cid) line(io, `Message was replaced: ${found.Message['/']}`)
  line(io, `Executed in tipset: ${goList(cidTexts(found.TipSet))}`)
  line(io, `Exit Code: ${found.Receipt.ExitCode}`)
  line(io, `Gas Used: ${found.Receipt.GasUsed}`)
  line(io, `Return: ${base64ToHex(found.Receipt.Return)}`)
  if (found.ReturnDec !== null && found.ReturnDec !== undefined)
    line(io, `Decoded return value:  ${stringifyJson(found.ReturnDec as Json)}`)
  if (found.Receipt.EventsRoot !== null) line(io, `Events Root: ${found.Receipt.EventsRoot['/']}`)
}

async function searchMessage(context: CliContext, cid: string): Promise<void> {
  const found = await (await context.node()).call('StateSearchMsg', [{ '/': cid }])
  if (found === null) throw new CliError('FAILED', `failed to find message: ${cid}`)
  await printLookup(context, cid, found)
}

async function waitMessage(context: CliContext, cid: string): Promise<void> {
  const found = await (await context.node()).call('StateWaitMsg', [{ '/': cid }, WAIT_CONFIDENCE])
  await printLookup(context, cid, found)
}

async function replay(
  context: CliContext,
  cid: string,
  options: { showTrace?: boolean; detailedGas?: boolean },
): Promise<void> {
  const { io } = context
  const result = await (await context.node()).call('StateReplay', [null, { '/': cid }])
  context.result(result)
  line(io, 'Replay receipt:')
  line(io, `Exit code: ${result.MsgRct.ExitCode}`)
  line(io, `Return: ${base64ToHex(result.MsgRct.Return)}`)
  line(io, `Gas Used: ${result.MsgRct.GasUsed}`)
  if (options.detailedGas === true) {
    line(io, `Base Fee Burn: ${result.GasCost.BaseFeeBurn}`)
    // Lotus spells it so, and scripts read it.
    line(io, `Overestimaton Burn: ${result.GasCost.OverEstimationBurn}`)
    line(io, `Miner Penalty: ${result.GasCost.MinerPenalty}`)
    line(io, `Miner Tip: ${result.GasCost.MinerTip}`)
    line(io, `Refund: ${result.GasCost.Refund}`)
  }
  line(io, `Total Message Cost: ${result.GasCost.TotalCost}`)
  if (result.MsgRct.ExitCode !== 0) line(io, `Error message: ${JSON.stringify(result.Error)}`)
  if (options.showTrace === true) {
    line(io, callText(result.Msg, result.MsgRct.ExitCode, result.MsgRct.Return))
    printSubcalls(context, '\t', subcallsOf(result))
  }
}

async function computeState(
  context: CliContext,
  options: { vmHeight?: string; applyMpoolMessages?: boolean; showTrace?: boolean },
  tipset: string | undefined,
): Promise<void> {
  const { io } = context
  const client = await context.node()
  const height = options.vmHeight === undefined ? 0 : wholeNumber(options.vmHeight, 'vm-height')
  const key = await tipsetKey(client, tipset)
  let chosen: JsonTipset
  if (key !== null) chosen = await client.call('ChainGetTipSet', [key])
  else if (height > 0) chosen = await client.call('ChainGetTipSetByHeight', [height, null])
  else chosen = await client.call('ChainHead')
  const messages =
    options.applyMpoolMessages === true
      ? ((await client.call('MpoolSelect', [chosen.Cids, 1]))?.map((signed) => signed.Message) ?? null)
      : null
  const output = await client.call('StateCompute', [height === 0 ? chosen.Height : height, messages, chosen.Cids])
  context.result(output)
  line(io, `computed state cid:  ${output.Root['/']}`)
  if (options.showTrace !== true) return
  for (const result of output.Trace ?? []) {
    line(io, callText(result.Msg, result.MsgRct.ExitCode, result.MsgRct.Return))
    printSubcalls(context, '\t', subcallsOf(result))
  }
}

/**
 * `state get-actor|lookup|read-state|search-msg|wait-msg|replay|compute-state|network-version|transfers`.
 * @see lotus cli/state.go
 */
export function addStateCommands(program: Command, context: CliContext): void {
  const { io, node } = context
  const state = program
    .command('state')
    .description('Interact with and query filecoin chain state')
    .option('--tipset <reference>', '@head, @<height>, or the CIDs of a tipset with commas')
  const tipset = (): string | undefined => state.opts<{ tipset?: string }>().tipset
  const json = async (ask: (client: RpcClient, key: readonly JsonCid[] | null) => Promise<Json>): Promise<void> => {
    const client = await node()
    const answer = await ask(client, await tipsetKey(client, tipset()))
    context.result(answer)
    line(io, stringifyJson(answer, 2))
  }
  state
    .command('get-actor')
    .description('Print actor information')
    .argument('<address>')
    .action((address: string) => getActor(context, address, tipset()))
  state
    .command('lookup')
    .description('Find corresponding ID address')
    .argument('<address>')
    .option('-r, --reverse', 'Perform reverse lookup')
    .action((address: string, options: { reverse?: boolean }) => lookup(context, address, options.reverse, tipset()))
  state
    .command('read-state')
    .description('View a json representation of an actors state')
    .argument('<address>')
    .action((address: string) => json((client, key) => client.call('StateReadState', [addressArgument(address), key])))
  state
    .command('search-msg')
    .alias('search-message')
    .description('Search to see whether a message has appeared on chain')
    .argument('<messageCid>')
    .action((cid: string) => searchMessage(context, cid))
  state
    .command('wait-msg')
    .alias('wait-message')
    .description('Wait for a message to appear on chain')
    .argument('<messageCid>')
    .action((cid: string) => waitMessage(context, cid))
  state
    .command('replay')
    .description('Replay a particular message')
    .argument('<messageCid>')
    .option('--show-trace', 'print out full execution trace for given message')
    .option('--detailed-gas', 'print out detailed gas costs for given message')
    .action((cid: string, options: { showTrace?: boolean; detailedGas?: boolean }) => replay(context, cid, options))
  state
    .command('compute-state')
    .description('Perform state computations')
    .option('--vm-height <n>', 'set the height that the vm will see')
    .option('--apply-mpool-messages', 'apply messages from the mempool to the computed state')
    .option('--show-trace', 'print out full execution trace for given tipset')
    .action((options: { vmHeight?: string; applyMpoolMessages?: boolean; showTrace?: boolean }) =>
      computeState(context, options, tipset()),
    )
  state
    .command('network-version')
    .description('Returns the network version')
    .action(async () => {
      const client = await node()
      const version = await client.call('StateNetworkVersion', [await tipsetKey(client, tipset())])
      context.result({ NetworkVersion: version })
      line(io, `Network Version: ${version}`)
    })
  addStateQueries(state, context, tipset)
  state
    .command('transfers')
    .description('List the value transfers that a tipset executed (multisig and contract transfers included)')
    .action(() => json((client, key) => client.call('ChainGetTransfers', [key])))
}
