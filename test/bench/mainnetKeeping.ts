/**
 * Whether `--keep-state` bounds the store: a generated chain is followed up to some epochs below its head, old state is collected,
 * and the rest is followed, for which the space that was freed has to do.
 */
import { CHAIN_FILE, SNAPSHOT_FILES } from '../../scripts/generate/mainnetSize/files.ts'
import { RpcClient } from '../support/rpcClient.ts'
import {
  addressOf,
  collected,
  follow,
  type Head,
  KEEP,
  LISTEN,
  MEBI,
  metric,
  metrics,
  type Report,
  type Start,
} from './mainnetFollowing.ts'

/** Epochs of the second part. */
const SECOND = 900

export async function measureKeeping(start: Start, report: Report): Promise<void> {
  const source = await start(CHAIN_FILE, 'source', [...LISTEN, '--keep-state', 'all'])
  try {
    const rpc = new RpcClient(source.url, source.token)
    const top = (await rpc.call('ChainHead')) as Head
    const part = (await rpc.call('ChainGetTipSetByHeight', top.Height - SECOND, [])) as Head
    const args = ['--bootstrap', await addressOf(source), ...LISTEN, ...KEEP]
    for (const [what, { Cids, Height }] of Object.entries({ 'the first part': part, 'the rest': top })) {
      await rpc.call('ChainSetHead', Cids)
      const node = await start(SNAPSHOT_FILES.forest, 'keeps', args)
      try {
        const tell = async (when: string): Promise<void> => {
          const text = await metrics(node)
          report(`${what}, ${when}: store`, metric(text, 'petrel_store_bytes') / MEBI, 'MB')
          report('  blocks that were deleted', metric(text, 'petrel_collected_blocks_total'), '')
        }
        await tell('at the start')
        const { epochs } = await follow(node, Height, (text) => console.log(`  ${text}`))
        report(`${what}: followed`, epochs, 'epochs')
        await tell('followed')
        await collected(node)
        await new RpcClient(node.url, node.token).call('ChainPrune', { MovingGC: false, RetainState: 0 })
        await collected(node)
        await tell('collected')
      } finally {
        await node.kill()
      }
    }
  } finally {
    await source.kill()
  }
}
