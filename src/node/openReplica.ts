/**
 * A replica: its head is the newest tipset of an index, its history the index's, its blocks whoever's has them, each checked against its
 * CID. It keeps nothing that it could not get again.
 *
 *     genesis header -> index is of this chain -> chain store -> head of the index -> node; the writer gets what is pushed
 */
import { errorMessage } from '../base/errors.ts'
import type { GenesisPart } from '../chain/genesisCar.ts'
import type { Cid } from '../codec/cid.ts'
import { type FollowerStatus, IndexFollower } from '../index/indexFollower.ts'
import type { IndexReader } from '../index/indexReader.ts'
import { chainFrom } from '../index/indexStore.ts'
import { indexedChain } from '../index/indexWriter.ts'
import { BlockFetcher, type BlockSource } from '../ipld/blockFetcher.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { LightError } from '../light/errors.ts'
import { rpcSource } from '../light/rpcSource.ts'
import type { Network } from '../networks/network.ts'
import { answerHellos } from '../p2p/hello.ts'
import { fetchPost, httpTransport } from '../rpc/client/httpTransport.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { WriterOf } from './forwardedRows.ts'
import type { HealthCheck } from './health.ts'
import { startNode } from './node.ts'
import type { NodeIndex } from './nodeIndex.ts'
import type { NodeShim } from './nodeShim.ts'
import { openHeaders } from './openLight.ts'
import { assembled, connect, type OpenNode, startOn, viewOf } from './openNode.ts'

/** What a replica is of. */
export interface ReplicatedChain {
  readonly network: Network
  readonly reader: IndexReader
  /** Puts a part of the genesis into a store and says its CID; for a network whose genesis header is not built in. */
  readonly importGenesis?: ((blocks: Blockstore, part: GenesisPart) => Promise<Cid>) | undefined
  /** RPC endpoints (`…/rpc/v1`) that are asked for blocks, after the stores; peers after them, where there is a host. */
  readonly endpoints: readonly string[]
  /** Archives elsewhere, asked like the endpoints. */
  readonly archives?: ReadonlyMap<string, BlockSource>
  /** The writer's API without path; undefined: nothing is passed on. */
  readonly writer: { readonly url: string; readonly token: string | undefined } | undefined
  /** Until when the index's head is waited for. */
  readonly signal: AbortSignal
}

/** How long an endpoint may take for blocks, milliseconds. */
const FETCH_MS = 30_000

/** Resolves when its head is the index's. @throws IndexError for an index of another chain or form; NodeError; the signal's reason */
export function openReplica(chain: ReplicatedChain, shim: NodeShim): Promise<OpenNode> {
  return assembled(async (closers) => {
    const { network, reader, signal } = chain
    const { stores, ports, settings } = shim
    closers.add(() => reader.close())
    // Before a new cache gets its chain: else it would refuse the right one later.
    const store = await openHeaders(chain, shim, 'state', (genesis) => reader.check(chainFrom(network, genesis)))
    const view = viewOf(store, network)
    await reader.check(indexedChain(view))
    const net = network.networkName === null ? undefined : await connect(shim, network, network.networkName, closers)
    const sources: BlockSource[] = [
      ...[...(chain.archives ?? [])].map(([url, source]) => patientSource(url, source, shim)),
      ...chain.endpoints.map((url) => patientSource(url, endpointSource(url, shim), shim)),
    ]
    if (stores.source !== undefined) sources.unshift(stores.source)
    if (net !== undefined) {
      sources.push(net.exchange.source)
      closers.add(answerHellos({ links: net.host.links, clock: ports.clock, timers: ports.timers }))
      net.host.start().catch((error: unknown) => ports.log.error('no peers', { reason: errorMessage(error) }))
    }
    const edge = new BlockFetcher(stores.blocks, sources).run
    const follower = new IndexFollower({ view, reader, edge, clock: ports.clock, timers: ports.timers, log: ports.log })
    await follower.reachFirst(signal, shim.say)
    shim.say(`network ${network.name}, replica of ${reader.name}, head at epoch ${store.head().height}`)
    follower.start()
    closers.add(() => follower.stop())
    const index: NodeIndex = {
      ...{ reader, isFirst: true, health: () => replicaHealth(follower.status, store.head().height) },
      // Both are done above and at the end.
      ...{ start: () => undefined, stop: () => Promise.resolve() },
    }
    const replica = { final: () => follower.final(), writer: writerOf(chain, shim) }
    return startOn(shim, view, { edge, index, replica }, closers, (all) => startNode(all, settings, ports))
  })
}

/** Tells how far behind it is. @param height - of its head */
export function replicaHealth({ indexHeight, trouble }: FollowerStatus, height: ChainEpoch): HealthCheck {
  const behind =
    indexHeight === undefined ? 'an unknown number of epochs' : `${Math.max(0, indexHeight - height)} epochs`
  const where = `replica at epoch ${height}, ${behind} behind its index`
  return trouble === '' ? { ok: true, text: where } : { ok: false, text: `${where}: ${trouble}` }
}

function endpointSource(url: string, { fetch }: NodeShim): BlockSource {
  if (fetch === undefined) throw new LightError('NO_SOURCE', 'not supported: RPC endpoints in this runtime')
  const source = rpcSource(url, fetchPost(fetch, url), false)
  return { fetch: async (cids, signal) => (await source.blocks?.(cids, signal ?? AbortSignal.timeout(FETCH_MS))) ?? [] }
}

/** One that does not answer has nothing: another one may. */
function patientSource(url: string, source: BlockSource, { ports: { log } }: NodeShim): BlockSource {
  return {
    fetch: async (cids: readonly Cid[], signal: AbortSignal | undefined) => {
      const late = AbortSignal.timeout(FETCH_MS)
      try {
        return await source.fetch(cids, signal === undefined ? late : AbortSignal.any([signal, late]))
      } catch (error) {
        signal?.throwIfAborted()
        log.warn('no blocks from', { url, reason: errorMessage(error) })
        return []
      }
    },
  }
}

function writerOf({ writer }: ReplicatedChain, { fetch }: NodeShim): WriterOf | undefined {
  if (writer === undefined || fetch === undefined) return undefined
  return (version) => httpTransport(fetchPost(fetch, `${writer.url}/rpc/${version}`, writer.token))
}
