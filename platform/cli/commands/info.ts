import type { Command } from 'commander'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import type { JsonTipset } from '../answers.ts'
import type { CliContext } from '../context.ts'
import { siBytes } from '../goFormat.ts'
import { paint } from '../paint.ts'

/** Age of a head up to which it is good, and slow, in block delays. */
const GOOD_DELAYS = 1.5
const SLOW_DELAYS = 5

async function status(context: CliContext, withChain: boolean): Promise<void> {
  const { io } = context
  const found = await (await context.node()).call('NodeStatus', [withChain], 'v1')
  const { SyncStatus: sync, PeerStatus: peers, ChainStatus: chain } = found
  context.result({
    SyncStatus: { ...sync },
    PeerStatus: { ...peers },
    ...(withChain ? { ChainStatus: { ...chain } } : {}),
  })
  line(io, `Sync Epoch: ${sync.Epoch}`)
  line(io, `Epochs Behind: ${sync.Behind}`)
  line(io, `Peers to Publish Messages: ${peers.PeersToPublishMsgs}`)
  line(io, `Peers to Publish Blocks: ${peers.PeersToPublishBlocks}`)
  if (!withChain) return
  line(io, `Blocks per TipSet in last 100 epochs: ${chain.BlocksPerTipsetLast100.toFixed(5)}`)
  line(io, `Blocks per TipSet in last finality: ${chain.BlocksPerTipsetLastFinality.toFixed(5)}`)
}

function health({ io }: CliContext, ageSec: number, delaySec: number): { state: string; text: string } {
  const age = `${ageSec.toFixed(1)}s behind`
  if (ageSec < delaySec * GOOD_DELAYS) return { state: 'ok', text: paint(io, 'green', 'sync ok') }
  if (ageSec < delaySec * SLOW_DELAYS) return { state: 'slow', text: paint(io, 'yellow', `sync slow (${age})`) }
  return { state: 'behind', text: paint(io, 'red', `sync behind! (${age})`) }
}

async function info(context: CliContext): Promise<void> {
  const { io } = context
  const client = await context.node()
  const network = await client.call('StateNetworkName')
  const started = await client.call('StartTime', [], 'v1')
  const { BlockDelay: delay, Version: version } = await client.call('Version')
  const head = await client.call('ChainHead')
  const block = head.Blocks[0] as JsonTipset['Blocks'][number]
  const sync = health(context, Math.max(0, io.now() / 1000 - block.Timestamp), delay)
  const { PeerStatus: peers } = await client.call('NodeStatus', [false], 'v1')
  const wallets = await client.call('WalletList')
  const preferred = await client.call('WalletDefaultAddress').catch(() => undefined)
  let total = 0n
  for (const wallet of wallets) total += BigInt(await client.call('WalletBalance', [wallet]))
  const own = preferred === undefined ? undefined : await client.call('WalletBalance', [preferred])
  const traffic = await client.call('NetBandwidthStats')
  context.result({
    Network: network,
    Version: version,
    StartTime: started,
    Chain: { Sync: sync.state, Height: head.Height, BaseFee: block.ParentBaseFee },
    Peers: { ...peers },
    DefaultAddress: preferred ?? null,
    DefaultBalance: own ?? null,
    Wallet: { Addresses: wallets.length, Total: total.toString() },
    Bandwidth: { ...traffic },
  })
  line(io, `Network: ${network}`)
  line(io, `Version: ${version}`)
  line(io, `StartTime: ${started}`)
  line(io, `Chain: [${sync.text}] [basefee ${formatFil(BigInt(block.ParentBaseFee))}] [epoch ${head.Height}]`)
  line(io, `Peers to: [publish messages ${peers.PeersToPublishMsgs}] [publish blocks ${peers.PeersToPublishBlocks}]`)
  if (preferred !== undefined) line(io, `Default address: ${preferred} [${formatFil(BigInt(own ?? '0'))}]`)
  line(io, `Wallet: ${wallets.length} addresses [${formatFil(total)}]`)
  line(io, `Bandwidth: in ${siBytes(traffic.TotalIn)}, out ${siBytes(traffic.TotalOut)}`)
}

/** `info`, `status`. @see lotus cli/info.go, cli/status.go */
export function addInfoCommands(program: Command, context: CliContext): void {
  program
    .command('info')
    .description('Print node info')
    .action(() => info(context))
  program
    .command('status')
    .description('Check node status')
    .option('--chain', 'include chain health status')
    .action((options: { chain?: boolean }) => status(context, options.chain === true))
}
