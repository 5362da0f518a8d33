import type { Command } from 'commander'
import { parseJson, stringifyJson } from '../../../src/codec/jsonText.ts'
import { parsePeerName } from '../../../src/rpc/types/peerId.ts'
import { line } from '../../server/programIo.ts'
import type { CliContext } from '../context.ts'
import { binarySize } from '../goFormat.ts'
import type { ApiNetLimit } from '../nodeMethods.ts'
import type { Given, RpcClient } from '../rpcClient.ts'

interface JsonBlockList {
  readonly Peers: readonly string[] | null
  readonly IPAddrs: readonly string[] | null
  readonly IPSubnets: readonly string[] | null
}

interface JsonScopeStat {
  readonly NumStreamsInbound: number
  readonly NumStreamsOutbound: number
  readonly NumConnsInbound: number
  readonly NumConnsOutbound: number
  readonly NumFD: number
  readonly Memory: number
}

interface JsonNetStat {
  readonly System?: JsonScopeStat
  readonly Transient?: JsonScopeStat
  readonly Services?: Readonly<Record<string, JsonScopeStat>>
  readonly Protocols?: Readonly<Record<string, JsonScopeStat>>
  readonly Peers?: Readonly<Record<string, JsonScopeStat>>
}

const BAR_COLUMNS = 64
/** What `block add` and `block remove` name. */
const KINDS = [
  { name: 'peer', arg: '<Peer...>', what: 'a peer', items: (all: string[]) => ({ Peers: all.map(parsePeerName) }) },
  { name: 'ip', arg: '<IP...>', what: 'an IP address', items: (all: string[]) => ({ IPAddrs: all }) },
  { name: 'subnet', arg: '<CIDR...>', what: 'an IP subnet', items: (all: string[]) => ({ IPSubnets: all }) },
] as const
const NO_ITEMS: JsonBlockList = { Peers: null, IPAddrs: null, IPSubnets: null }

async function blockList({ io, node, result }: CliContext): Promise<void> {
  const found = await (await node()).call('NetBlockList')
  result(found)
  const { Peers, IPAddrs, IPSubnets } = found
  const print = (title: string, items: readonly string[]): void => {
    if (items.length === 0) return
    line(io, title)
    for (const item of items) line(io, `\t${item}`)
  }
  print('Blocked Peers:', [...(Peers ?? [])].sort().reverse())
  print('Blocked IPs:', [...(IPAddrs ?? [])].sort())
  print('Blocked Subnets:', [...(IPSubnets ?? [])].sort())
}

function bar(total: number, used: number): string {
  const full = total === 0 ? 0 : Math.min(BAR_COLUMNS, Math.round((used / total) * BAR_COLUMNS))
  return `[${'|'.repeat(full)}${' '.repeat(BAR_COLUMNS - full)}]`
}

async function scopeText(client: RpcClient, scope: string, stat: JsonScopeStat): Promise<string> {
  const limit = await client.call('NetLimit', [scope])
  const memory = limit.Memory ?? 0
  const counted = (name: string, used: number, total: number): string =>
    `\t${name.padEnd(13)}${bar(total, used)} ${used}/${total}\n`
  return [
    `${scope}\n`,
    `\tmemory:      ${bar(memory, stat.Memory)} ${binarySize(stat.Memory)}/${binarySize(memory)}\n`,
    counted('streams in:', stat.NumStreamsInbound, limit.StreamsInbound),
    counted('streams out:', stat.NumStreamsOutbound, limit.StreamsOutbound),
    counted('conn in:', stat.NumConnsInbound, limit.ConnsInbound),
    counted('conn out:', stat.NumConnsOutbound, limit.ConnsOutbound),
    counted('file desc:', stat.NumFD, limit.FD),
    '\n',
  ].join('')
}

async function stat(context: CliContext, scope: string): Promise<void> {
  const { io } = context
  const client = await context.node()
  const json = await client.call('NetStat', [scope])
  context.result(json)
  const result = json as unknown as JsonNetStat
  if (result.System !== undefined) io.out(await scopeText(client, 'system', result.System))
  if (result.Transient !== undefined) io.out(await scopeText(client, 'transient', result.Transient))
  const groups = [
    ['svc:', result.Services],
    ['proto:', result.Protocols],
    ['peer:', result.Peers],
  ] as const
  for (const [prefix, stats] of groups) {
    const sorted = Object.entries(stats ?? {}).sort(
      ([a, usage], [b, other]) => other.Memory - usage.Memory || (a < b ? -1 : 1),
    )
    for (const [name, usage] of sorted) io.out(await scopeText(client, prefix + name, usage))
  }
}

async function limit(
  { io, node, result }: CliContext,
  scope: string,
  value: string | undefined,
  options: { set?: boolean },
): Promise<void> {
  const client = await node()
  if (options.set === true) {
    await client.call('NetSetLimit', [scope, parseJson(value ?? '') as Given<ApiNetLimit>])
    return
  }
  const found = await client.call('NetLimit', [scope])
  result(found)
  line(io, stringifyJson(found))
}

/** `net block|stat|limit|protect|unprotect|list-protected`. @see lotus cli/net.go */
export function addNetListCommands(net: Command, context: CliContext): void {
  const { io, node } = context
  const block = net.command('block').description('Manage network connection gating rules')
  for (const [verb, method, title] of [
    ['add', 'NetBlockAdd', 'Block'],
    ['remove', 'NetBlockRemove', 'Unblock'],
  ] as const) {
    const command = block.command(verb).description(`${verb === 'add' ? 'Add' : 'Remove'} connection gating rules`)
    for (const { name, arg, what, items } of KINDS) {
      command
        .command(`${name} ${arg}`)
        .description(`${title} ${what}`)
        .action(async (all: string[]) => {
          await (await node()).call(method, [{ ...NO_ITEMS, ...items(all) }])
        })
    }
  }
  block
    .command('list')
    .description('list connection gating rules')
    .action(() => blockList(context))
  net
    .command('stat <scope>')
    .description('Report resource usage for a scope: system, transient, svc:…, proto:…, peer:…, all')
    .action((scope: string) => stat(context, scope))
  net
    .command('limit <scope> [limit]')
    .description('Get resource limits for a scope: system, transient, svc:…, proto:…, peer:…')
    .option('--set', 'set the limit for a scope')
    .action((scope: string, value: string | undefined, options: { set?: boolean }) =>
      limit(context, scope, value, options),
    )
  net
    .command('protect <peerID...>')
    .description('Add one or more peer IDs to the list of protected peer connections')
    .action(async (peers: string[]) => {
      await (await node()).call('NetProtectAdd', [peers.map(parsePeerName)])
      line(io, 'added to protected peers:')
      for (const peer of peers) line(io, ` ${peer}`)
    })
  net
    .command('unprotect <peerID...>')
    .description('Remove one or more peer IDs from the list of protected peer connections.')
    .action(async (peers: string[]) => {
      await (await node()).call('NetProtectRemove', [peers.map(parsePeerName)])
      io.out('removed from protected peers:')
      for (const peer of peers) line(io, ` ${peer}`)
    })
  net
    .command('list-protected')
    .description('List the peer IDs with protected connection.')
    .action(async () => {
      const peers = (await (await node()).call('NetProtectList')) ?? []
      context.result(peers)
      for (const peer of peers) line(io, peer)
    })
}
