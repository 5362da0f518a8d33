/**
 * `state list-messages|list-actors|list-miners|exec-trace|call|sector|power|market balance|circulating-supply|actor-cids`.
 * @see lotus cli/state.go
 */

import type { Command } from 'commander'
import { type Json, stringifyJson } from '../../../src/codec/jsonText.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import { subcallsOf } from '../answers.ts'
import { addressArgument, base64ToHex, type CliContext, filArgument, hexToBase64, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { binarySize, tabbed } from '../goFormat.ts'
import { callText, printSubcalls, tipsetKey } from './stateText.ts'

type Tipset = () => string | undefined

async function listMessages(
  context: CliContext,
  tipset: Tipset,
  options: { from?: string; to?: string; toheight: string; cids?: boolean },
): Promise<void> {
  const { io } = context
  if (options.from === undefined && options.to === undefined) {
    throw new CliError('USAGE', 'must specify at least one of --from, --to')
  }
  const client = await context.node()
  const match = {
    ...(options.from === undefined ? {} : { From: addressArgument(options.from) }),
    ...(options.to === undefined ? {} : { To: addressArgument(options.to) }),
  }
  const key = await tipsetKey(client, tipset())
  const lowest = wholeNumber(options.toheight, 'toheight')
  const cids = (await client.call('StateListMessages', [match, key ?? [], lowest])) ?? []
  if (options.cids === true) {
    context.result(cids.map((cid) => cid['/']))
    for (const cid of cids) line(io, cid['/'])
    return
  }
  const messages: Json[] = []
  for (const cid of cids) messages.push(await client.call('ChainGetMessage', [cid]))
  context.result(messages)
  for (const message of messages) line(io, stringifyJson(message, 2))
}

/** The trace of an executed message. */
async function executionTrace(context: CliContext, cid: string): Promise<void> {
  const client = await context.node()
  const found = await client.call('StateSearchMsg', [{ '/': cid }])
  if (found === null) throw new CliError('FAILED', `failed to find message: ${cid}`)
  const trace = await client.call('StateReplay', [null, found.Message])
  context.result(trace.ExecutionTrace)
  const { Msg: call, MsgRct: receipt } = trace
  line(context.io, callText(call, receipt.ExitCode, receipt.Return))
  printSubcalls(context, '\t', subcallsOf(trace))
}

async function call(
  context: CliContext,
  tipset: Tipset,
  args: { to: string; method: string; params: string | undefined },
  options: { from: string; value: string; ret: string },
): Promise<void> {
  const { io } = context
  const client = await context.node()
  const message = {
    Version: 0,
    To: addressArgument(args.to, 'toAddress'),
    From: addressArgument(options.from, 'from'),
    Nonce: 0,
    Value: filArgument(options.value, 'value'),
    GasLimit: 0,
    GasFeeCap: '0',
    GasPremium: '0',
    Method: wholeNumber(args.method, 'method'),
    Params: args.params === undefined ? null : hexToBase64(args.params, 'params'),
  }
  const answer = await client.call('StateCall', [message, await tipsetKey(client, tipset())])
  context.result(answer)
  const { MsgRct: receipt } = answer
  if (receipt.ExitCode !== 0) {
    throw new CliError(
      'FAILED',
      `invocation failed (exit: ${receipt.ExitCode}, gasUsed: ${receipt.GasUsed}): ${answer.Error}`,
    )
  }
  line(io, `Gas used: ${receipt.GasUsed}`)
  line(io, options.ret === 'base64' ? (receipt.Return ?? '') : base64ToHex(receipt.Return))
}

async function sector(context: CliContext, tipset: Tipset, miner: string, number: string): Promise<void> {
  const { io } = context
  const client = await context.node()
  const of = [
    addressArgument(miner, 'miner'),
    wholeNumber(number, 'sector'),
    await tipsetKey(client, tipset()),
  ] as const
  const found = await client.call('StateSectorGetInfo', of)
  if (found === null) throw new CliError('FAILED', 'sector not found')
  const place = await client.call('StateSectorPartition', of)
  context.result({ ...found, ...place })
  line(io, `SectorNumber:  ${found.SectorNumber}`)
  line(io, `SealProof:  ${found.SealProof}`)
  line(io, `SealedCID:  ${found.SealedCID['/']}`)
  line(io, `Activation:  ${found.Activation}`)
  line(io, `Expiration:  ${found.Expiration}`)
  line(io, `InitialPledge:  ${formatFil(BigInt(found.InitialPledge))}`)
  line(io, `Deadline:  ${place?.Deadline}`)
  line(io, `Partition:  ${place?.Partition}`)
}

async function power(context: CliContext, tipset: Tipset, miner: string | undefined): Promise<void> {
  const client = await context.node()
  const who = miner === undefined ? '' : addressArgument(miner, 'miner')
  const found = await client.call('StateMinerPower', [who, await tipsetKey(client, tipset())])
  const { MinerPower: own, TotalPower: total } = found
  context.result(
    miner === undefined ? { TotalPower: { ...total } } : { MinerPower: { ...own }, TotalPower: { ...total } },
  )
  const text = (quality: string): string => `${quality}(${binarySize(Number(quality))})`
  if (miner === undefined) {
    line(context.io, text(total.QualityAdjPower))
    return
  }
  const share = total.QualityAdjPower === '0' ? 0 : (100 * Number(own.QualityAdjPower)) / Number(total.QualityAdjPower)
  line(context.io, `${text(own.QualityAdjPower)} / ${text(total.QualityAdjPower)} ~= ${share.toFixed(4)}%`)
}

/** Adds the commands to `state`. */
export function addStateQueries(state: Command, context: CliContext, tipset: Tipset): void {
  const { io, node, result } = context
  const addresses = (name: string, description: string, method: 'StateListActors' | 'StateListMiners'): void => {
    state
      .command(name)
      .description(description)
      .action(async () => {
        const client = await node()
        const found = (await client.call(method, [await tipsetKey(client, tipset())])) ?? []
        result(found)
        for (const address of found) line(io, address)
      })
  }
  addresses('list-actors', 'list all actors in the network', 'StateListActors')
  addresses('list-miners', 'list all miners in the network', 'StateListMiners')
  state
    .command('list-messages')
    .alias('list-msgs')
    .description('list messages on chain matching given criteria')
    .option('--to <address>', 'return messages to a given address')
    .option('--from <address>', 'return messages from a given address')
    .option('--toheight <n>', "don't look before given block height", '0')
    .option('--cids', 'print message CIDs instead of messages')
    .action((options: { from?: string; to?: string; toheight: string; cids?: boolean }) =>
      listMessages(context, tipset, options),
    )
  state
    .command('exec-trace')
    .description('Get the execution trace of a given message')
    .argument('<messageCid>')
    .action((cid: string) => executionTrace(context, cid))
  state
    .command('call')
    .description('Invoke a method on an actor locally')
    .argument('<toAddress>')
    .argument('<methodId>')
    .argument('[params]', 'hexadecimal')
    .option('--from <address>', 'the sender', 'f00')
    .option('--value <FIL>', 'value of the call', '0')
    .option('--ret <form>', 'form of the return value: hex or base64', 'hex')
    .action(
      (to: string, method: string, params: string | undefined, options: { from: string; value: string; ret: string }) =>
        call(context, tipset, { to, method, params }, options),
    )
  state
    .command('sector')
    .alias('sector-info')
    .description('Get miner sector info')
    .argument('<minerAddress>')
    .argument('<sectorNumber>')
    .action((miner: string, number: string) => sector(context, tipset, miner, number))
  state
    .command('power')
    .description('Query network or miner power')
    .argument('[minerAddress]')
    .action((miner: string | undefined) => power(context, tipset, miner))
  state
    .command('market')
    .description('Inspect the storage market actor')
    .command('balance')
    .description('Get the market balance (locked and escrowed) for a given account')
    .argument('<address>')
    .action(async (address: string) => {
      const client = await node()
      const params = [addressArgument(address), await tipsetKey(client, tipset())] as const
      const found = await client.call('StateMarketBalance', params)
      result({ ...found })
      line(io, `Escrow: ${formatFil(BigInt(found.Escrow))}`)
      line(io, `Locked: ${formatFil(BigInt(found.Locked))}`)
    })
  state
    .command('circulating-supply')
    .description('Get the exact current circulating supply of Filecoin')
    .option('--vm-supply', 'calculates the approximation of the circulating supply used internally by the VM')
    .action(async (options: { vmSupply?: boolean }) => {
      const client = await node()
      const method = options.vmSupply === true ? 'StateVMCirculatingSupplyInternal' : 'StateCirculatingSupply'
      const found = await client.call(method, [await tipsetKey(client, tipset())])
      result(found)
      if (typeof found === 'string') line(io, `Exact circulating supply:  ${formatFil(BigInt(found))}`)
      else {
        for (const [name, amount] of Object.entries(found as Record<string, string>)) {
          line(io, `${name}:  ${formatFil(BigInt(amount))}`)
        }
      }
    })
  state
    .command('actor-cids')
    .description('Returns the built-in actor bundle manifest ID and system actor cids')
    .option('--network-version <n>', 'specify network version (default: that of the head)')
    .action(async (options: { networkVersion?: string }) => {
      const client = await node()
      const version =
        options.networkVersion === undefined
          ? await client.call('StateNetworkVersion', [null])
          : wholeNumber(options.networkVersion, 'network-version')
      const manifest = await client.call('StateActorManifestCID', [version])
      const codes = await client.call('StateActorCodeCIDs', [version])
      const actors = Object.fromEntries(Object.entries(codes).map(([name, cid]) => [name, cid['/']]))
      result({ NetworkVersion: version, Manifest: manifest['/'], Actors: actors })
      line(io, `Network Version: ${version}`)
      line(io, `Manifest CID: ${manifest['/']}`)
      io.out(tabbed([['Actor', 'CID'], ...Object.entries(actors).sort(([a], [b]) => (a < b ? -1 : 1))]))
    })
}
