import type { Command } from 'commander'
import { type Json, stringifyJson } from '../../../src/codec/jsonText.ts'
import { peerOfAddress, withoutPeer } from '../../../src/p2p/host/addresses.ts'
import { parsePeerName } from '../../../src/rpc/types/peerId.ts'
import { line } from '../../server/programIo.ts'
import { type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { goDuration, goList, siBytes, tabbed } from '../goFormat.ts'
import type { RpcClient } from '../rpcClient.ts'
import { addNetListCommands } from './netLists.ts'

interface JsonAddrInfo {
  readonly ID: string
  readonly Addrs: readonly string[]
}

interface JsonStats {
  readonly TotalIn: number
  readonly TotalOut: number
  readonly RateIn: number
  readonly RateOut: number
}

const REACHABILITIES = ['Unknown', 'Public', 'Private']
const NS_PER_MS = 1_000_000

const compact = (value: unknown): string => stringifyJson(value as Json)
const descending = (a: { readonly ID: string }, b: { readonly ID: string }): number => (a.ID < b.ID ? 1 : -1)

async function peers(
  { io, node, result }: CliContext,
  options: { agent?: boolean; extended?: boolean },
): Promise<void> {
  const client = await node()
  const all = [...(await client.call('NetPeers'))].sort(descending)
  if (options.extended === true) {
    const infos: Json[] = []
    for (const id of new Set(all.map(({ ID }) => ID))) infos.push(await client.call('NetPeerInfo', [id]))
    result(infos)
    for (const info of infos) line(io, compact(info))
    return
  }
  const found: Json[] = []
  for (const { ID, Addrs } of all) {
    const agent = options.agent === true ? await agentOf(client, ID) : undefined
    found.push({ ID, Addrs: [...Addrs], ...(agent === undefined ? {} : { Agent: agent }) })
    line(io, `${ID}, ${goList(Addrs)}${agent === undefined ? '' : `, ${agent}`}`)
  }
  result(found)
}

/** A peer that went away meanwhile is listed without its agent. */
async function agentOf(client: RpcClient, peer: string): Promise<string | undefined> {
  try {
    return await client.call('NetAgentVersion', [peer])
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return undefined
  }
}

async function listen({ io, node, result }: CliContext): Promise<void> {
  const { ID, Addrs } = await (await node()).call('NetAddrsListen')
  result({ ID, Addrs: [...Addrs] })
  for (const address of Addrs) line(io, `${address}/p2p/${ID}`)
}

/**
 * Peers by their multiaddrs or, where the node knows how to reach them, their peer IDs; or one by its miner's address.
 * @throws CliError `USAGE`
 */
async function peersOf({ io, node }: CliContext, args: readonly string[]): Promise<JsonAddrInfo[]> {
  const first = args[0]
  if (first === undefined) throw new CliError('USAGE', 'which peer? give a multiaddr that ends in /p2p/<peer ID>')
  if (!first.startsWith('/') && /^[tf]\d/.test(first))
    return [await minerPeer(await node(), first, (text) => line(io, text))]
  const found = new Map<string, string[]>()
  for (const address of args) {
    if (!address.startsWith('/')) {
      found.set(parsePeerName(address), [])
      continue
    }
    const peer = peerOfAddress(address)
    if (peer === undefined) throw new CliError('USAGE', `found no ipfs peers at ${address}`)
    const rest = withoutPeer(address, peer)
    const addresses = found.get(peer) ?? []
    if (rest !== '') addresses.push(rest)
    found.set(peer, addresses)
  }
  return [...found].map(([ID, Addrs]) => ({ ID, Addrs }))
}

async function minerPeer(client: RpcClient, miner: string, tell: (text: string) => void): Promise<JsonAddrInfo> {
  const info = await client.call('StateMinerInfo', [miner, null])
  if (info.PeerId === null) throw new CliError('FAILED', 'no PeerID for miner')
  const { multiaddr } = await import('@multiformats/multiaddr')
  const Addrs = (info.Multiaddrs ?? []).map((bytes) =>
    multiaddr(new Uint8Array(Buffer.from(bytes ?? '', 'base64'))).toString(),
  )
  tell(`${miner} -> {${info.PeerId}: ${goList(Addrs)}}`)
  return { ID: info.PeerId, Addrs }
}

async function connect(context: CliContext, args: readonly string[]): Promise<void> {
  const client = await context.node()
  for (const peer of await peersOf(context, args)) {
    await told(context, `connect ${peer.ID}`, () => client.call('NetConnect', [peer]))
  }
}

async function disconnect(context: CliContext, args: readonly string[]): Promise<void> {
  const client = await context.node()
  for (const peer of args) {
    await told(context, `disconnect ${parsePeerName(peer)}`, () => client.call('NetDisconnect', [peer]))
  }
}

/** `<what>: success` or `<what>: failure`, and the error. */
async function told({ io }: CliContext, what: string, run: () => Promise<unknown>): Promise<void> {
  io.out(`${what}: `)
  try {
    await run()
  } catch (error) {
    line(io, 'failure')
    throw error
  }
  line(io, 'success')
}

async function findPeer({ io, node, result }: CliContext, peer: string): Promise<void> {
  const { ID, Addrs } = await (await node()).call('NetFindPeer', [parsePeerName(peer)])
  result({ ID, Addrs: [...Addrs] })
  line(io, `{${ID}: ${goList(Addrs)}}`)
}

async function ping(context: CliContext, address: string, options: { count: string; interval: string }): Promise<void> {
  const { io } = context
  const client = await context.node()
  const count = wholeNumber(options.count, 'count')
  const intervalMs = durationMs(options.interval)
  const all: Json[] = []
  for (const peer of await peersOf(context, [address])) {
    await client.call('NetConnect', [peer])
    line(io, `PING ${peer.ID}`)
    const times: number[] = []
    for (let i = 0; i < count && !io.signal.aborted; i++) {
      const start = io.now()
      const ms = (await client.call('NetPing', [peer.ID])) / NS_PER_MS
      line(io, `Pong received: time=${goDuration(ms)}`)
      times.push(ms)
      const left = intervalMs - (io.now() - start)
      if (i + 1 < count && left > 0) await io.sleep(left)
    }
    all.push({ ID: peer.ID, Milliseconds: times })
    if (times.length === 0) continue
    line(io, `Average latency: ${goDuration(times.reduce((sum, ms) => sum + ms, 0) / times.length)}`)
  }
  context.result(all)
}

/** `500ms`, `1s`, `2m`. */
function durationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text)
  if (match === null) throw new CliError('USAGE', `"${text}" is no duration: expected 500ms, 1s, 2m`)
  return Number(match[1]) * (match[2] === 'ms' ? 1 : match[2] === 's' ? 1000 : 60_000)
}

async function scores({ io, node, result }: CliContext, options: { extended?: boolean }): Promise<void> {
  const found = await (await node()).call('NetPubsubScores')
  result(found)
  for (const score of found) {
    line(io, options.extended === true ? compact(score) : `${score.ID}, ${(score.Score?.Score ?? 0).toFixed(6)}`)
  }
}

async function reachability({ io, node, result }: CliContext): Promise<void> {
  const { Reachability, PublicAddrs } = await (await node()).call('NetAutoNatStatus')
  result({ Reachability: REACHABILITIES[Reachability] ?? Reachability, PublicAddrs: [...(PublicAddrs ?? [])] })
  line(io, `AutoNAT status:  ${REACHABILITIES[Reachability] ?? `Reachability(${Reachability})`}`)
  if (PublicAddrs !== null && PublicAddrs.length > 0) line(io, `Public address: ${goList(PublicAddrs)}`)
}

async function bandwidth(
  { io, node, result }: CliContext,
  options: { byPeer?: boolean; byProtocol?: boolean },
): Promise<void> {
  const client = await node()
  const row = (name: string, stats: JsonStats): string[] => [
    name,
    siBytes(stats.TotalIn),
    siBytes(stats.TotalOut),
    `${siBytes(stats.RateIn)}/s`,
    `${siBytes(stats.RateOut)}/s`,
  ]
  const rows = [['Segment', 'TotalIn', 'TotalOut', 'RateIn', 'RateOut']]
  if (options.byPeer === true || options.byProtocol === true) {
    const method = options.byPeer === true ? 'NetBandwidthStatsByPeer' : 'NetBandwidthStatsByProtocol'
    const stats = await client.call(method)
    result(stats)
    for (const name of Object.keys(stats).sort()) rows.push(row(name || '<unknown>', stats[name] as JsonStats))
  } else {
    const total = await client.call('NetBandwidthStats')
    result({ ...total })
    rows.push(row('Total', total))
  }
  io.out(tabbed(rows))
}

/** `net peers|listen|id|connect|disconnect|find-peer|ping|scores|reachability|…`. @see lotus cli/net.go */
export function addNetCommands(program: Command, context: CliContext): void {
  const net = program.command('net').description('Manage P2P Network')
  net
    .command('peers')
    .description('Print peers')
    .option('-a, --agent', 'Print agent name')
    .option('-x, --extended', 'Print extended peer information in json')
    .action((options: { agent?: boolean; extended?: boolean }) => peers(context, options))
  net
    .command('ping <peerMultiaddr>')
    .description('Ping peers')
    .option('-c, --count <count>', 'specify the number of times it should ping', '10')
    .option('-i, --interval <duration>', 'minimum time between pings', '1s')
    .action((address: string, options: { count: string; interval: string }) => ping(context, address, options))
  net
    .command('connect <peerMultiaddr...>')
    .description('Connect to a peer, by multiaddr or by its miner')
    .action((args: string[]) => connect(context, args))
  net
    .command('disconnect <peerID...>')
    .description('Disconnect from a peer')
    .action((args: string[]) => disconnect(context, args))
  net
    .command('listen')
    .description('List listen addresses')
    .action(() => listen(context))
  net
    .command('id')
    .description('Get node identity')
    .action(async () => {
      const id = await (await context.node()).call('ID')
      context.result({ ID: id })
      line(context.io, id)
    })
  net
    .command('find-peer <peerID>')
    .alias('findpeer')
    .description('Find the addresses of a given peerID')
    .action((peer: string) => findPeer(context, peer))
  net
    .command('scores')
    .description("Print peers' pubsub scores")
    .option('-x, --extended', 'print extended peer scores in json')
    .action((options: { extended?: boolean }) => scores(context, options))
  net
    .command('reachability')
    .description('Print information about reachability from the internet')
    .action(() => reachability(context))
  net
    .command('bandwidth')
    .description('Print bandwidth usage information')
    .option('--by-peer', 'list bandwidth usage by peer')
    .option('--by-protocol', 'list bandwidth usage by protocol')
    .action((options: { byPeer?: boolean; byProtocol?: boolean }) => bandwidth(context, options))
  addNetListCommands(net, context)
}
