/** Recorded chains as peers, and nodes that follow them, for tests of the syncer: no network, no threads. */
import { zstdDecompressSync } from 'node:zlib'
import { CarStore } from '../../src/archive/carStore.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Clock, KeyValueStore, Timers } from '../../src/base/ports.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { networkBeacons } from '../../src/consensus/drandBeacon.ts'
import type { BlockValidation } from '../../src/consensus/validateBlock.ts'
import { mockWinningPoSt } from '../../src/consensus/winningPoSt.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import type { CodeLoader } from '../../src/fvm/kernel/kernel.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { BlockFetcher, type BlockSource } from '../../src/ipld/blockFetcher.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore, tryGetBlock } from '../../src/ipld/blockstore.ts'
import { walkDag } from '../../src/ipld/walkDag.ts'
import { poolPrices } from '../../src/mempool/poolChain.ts'
import { actorsVersionFor, type Network, networkVersionAt } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import type { ChainRequest, ChainSource, FetchedChain, FetchedTipset } from '../../src/p2p/chainSource.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import type { Misbehaviour, PeerName } from '../../src/p2p/peerLinks.ts'
import { AheadBlocks } from '../../src/sync/aheadBlocks.ts'
import { Syncer } from '../../src/sync/syncer.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { firstBlock, type Tipset, type TipsetKey } from '../../src/types/tipset.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import { silentLog } from '../support/recordedView.ts'
import { readShared, readSharedText } from '../support/shared.ts'

/** Long after any recorded block. */
export const LATER_MS = 4_000_000_000_000
const LAST_EPOCH = 900

export const laterClock: Clock = { nowMs: () => LATER_MS, monotonicMs: () => performance.now() }
export const realTimers: Timers = {
  setTimeout: (fn, ms) => {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
}

/** A recorded chain, and what executing it takes. */
export interface Recorded {
  readonly network: Network
  readonly view: ChainView
  /** Actors' code; empty where it is not on this machine. */
  readonly bundles: readonly Blockstore[]
  /** Actors that need no bundle. */
  readonly native?: CodeLoader
}

export function openRecorded(chain: string): Recorded {
  const network = parseNetwork(parseJson(readSharedText(`data/golden/${chain}/network.json`)))
  const archive = openArchive(memorySource(zstdDecompressSync(readShared(`data/golden/${chain}/chain.car.zst`))))
  const actors = actorsVersionFor(networkVersionAt(network, LAST_EPOCH))
  const bundles = network.manifests
    .filter(({ actorsVersion }) => actorsVersion === actors)
    .map(({ manifestCid }) => manifestCid.toString())
    .filter((manifest) => missingBundle(manifest) === undefined)
    .map((manifest) => new CarStore(memorySource(readBundle(manifest)), { verify: 'never' }))
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
  const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
  const view = new ChainView({ store, network, beaconRound: mockBeacon.roundAt })
  return { network, view, bundles }
}

/** Tipsets of a view's chain above genesis, oldest first. */
export function tipsetsOf(view: ChainView, head: Tipset = view.store.head()): Tipset[] {
  const out: Tipset[] = []
  for (let tipset = head; tipset.height > 0; tipset = view.store.parent(tipset)) out.push(tipset)
  return out.reverse()
}

export function withMessages(view: ChainView, tipset: Tipset): FetchedTipset {
  return { tipset, messages: tipset.blocks.map((block) => view.blockMessages(block)) }
}

/** What goes wrong with a peer's answers. */
export interface SourceFaults {
  /** Changes an answer before it is given. */
  answer?: (chain: FetchedChain, request: ChainRequest) => FetchedChain
  /** Tipsets of one answer at most. */
  most?: number
  /** Rejects instead. */
  fail?: (request: ChainRequest) => boolean
}

/** A peer that serves whatever its view holds. */
export class RecordedSource implements ChainSource {
  readonly peer: PeerName = 'recorded'
  readonly requests: ChainRequest[] = []
  readonly faults: SourceFaults
  readonly #view: ChainView

  constructor(view: ChainView, faults: SourceFaults = {}) {
    this.#view = view
    this.faults = faults
  }

  async fetch(request: ChainRequest, { signal }: { signal?: AbortSignal }): Promise<FetchedChain> {
    await Promise.resolve()
    signal?.throwIfAborted()
    this.requests.push(request)
    if (this.faults.fail?.(request) === true) throw new P2pError('ALL_PEERS_FAILED', 'all peers failed')
    const tipsets: FetchedTipset[] = []
    const most = Math.min(request.length, this.faults.most ?? 900)
    let at: Tipset | undefined = this.#load(request.head)
    while (at !== undefined && tipsets.length < most) {
      tipsets.push(request.messages ? withMessages(this.#view, at) : { tipset: at, messages: undefined })
      at = at.height === 0 ? undefined : this.#view.store.parent(at)
    }
    const chain = { peer: this.peer, tipsets }
    return this.faults.answer?.(chain, request) ?? chain
  }

  async fetchMessages(
    tipsets: readonly Tipset[],
  ): Promise<FetchedTipset['messages'] extends infer M ? NonNullable<M>[] : never> {
    return tipsets.map((tipset) => withMessages(this.#view, tipset).messages ?? [])
  }

  #load(key: TipsetKey): Tipset {
    try {
      return this.#view.store.tipset(key)
    } catch (cause) {
      throw new P2pError('ALL_PEERS_FAILED', 'all peers failed: not found', {}, { cause })
    }
  }
}

export interface FollowerOptions {
  readonly mode: 'headers' | 'execute'
  readonly source: ChainSource
  /** What an earlier follower left. */
  readonly blocks?: MemoryBlockstore
  readonly meta?: KeyValueStore
  readonly clock?: Clock
  /** Clock and timers of one time: checks that rest by one and look at another might rest for ever. */
  readonly time?: Clock & Timers
  readonly threshold?: number
  readonly makesBlocks?: boolean
  /** What each fetch of blocks waits for. */
  readonly link?: () => Promise<void>
  /** Whether an executing node can fetch blocks; one that only follows headers always can. */
  readonly fetches?: boolean
  /** Changes how blocks are checked. */
  readonly validation?: Partial<BlockValidation>
  readonly vm?: (vm: VmHost, view: ChainView) => VmHost
}

export interface Follower {
  readonly store: ChainStore
  readonly view: ChainView
  readonly syncer: Syncer
  readonly blocks: MemoryBlockstore
  readonly meta: KeyValueStore
  readonly reports: { readonly peer: PeerName; readonly what: Misbehaviour }[]
  /** Head changes as they were told. */
  readonly changes: { readonly reverted: readonly Tipset[]; readonly applied: readonly Tipset[] }[]
  /** How many blocks of state were fetched. */
  readonly fetched: () => number
  /** CIDs that were asked for and that nobody had. */
  readonly missed: string[]
}

/** A node that has genesis only; its state is copied when it executes, and fetched block by block when it does not. */
export function createFollower(recorded: Recorded, options: FollowerOptions): Follower {
  const { network } = recorded
  const theirs = recorded.view.store
  const genesis = firstBlock(theirs.genesis())
  const isFresh = options.blocks === undefined
  const blocks = options.blocks ?? new MemoryBlockstore()
  const meta = options.meta ?? new MemoryStore()
  const layered = new LayeredBlockstore([blocks, ...recorded.bundles])
  const store = new ChainStore({ blocks: layered, meta, log: silentLog })
  if (isFresh && options.mode === 'execute') {
    const known = { seen: new Set<string>() }
    const follow = (cid: Parameters<Blockstore['has']>[0]): boolean => theirs.blocks.has(cid)
    walkDag(theirs.blocks, headerCid(genesis), (cid, data) => blocks.put(cid, data), { ...known, follow })
  }
  if (!store.load()) store.setGenesis(genesis)
  const view = new ChainView({ store, network, beaconRound: mockBeacon.roundAt })
  const { native } = recorded
  const codeLoaders = createCodeLoaders({ blocks: layered, ...(native === undefined ? {} : { native }) })
  const vm = new CachingVmHost(store, new LocalVmHost({ view, proofs: acceptAllProofs, codeLoaders }))
  let fetched = 0
  const missed: string[] = []
  const peers: BlockSource = {
    fetch: async (cids) => {
      await options.link?.()
      return cids.flatMap((cid) => {
        const data = tryGetBlock(theirs.blocks, cid)
        if (data === undefined) {
          missed.push(cid.toString())
          return []
        }
        fetched++
        return [[cid, data] as const]
      })
    },
  }
  const clock = options.time ?? options.clock ?? laterClock
  const ahead = new AheadBlocks(layered, clock)
  const fetcher = new BlockFetcher(layered, [ahead, peers])
  const prices = poolPrices(view)
  const validation: BlockValidation = {
    view,
    beaconAt: networkBeacons(network, genesis.timestamp),
    winningPoSt: mockWinningPoSt,
    nowMs: () => clock.nowMs(),
    minimumGas: (epoch, length) => prices.total(epoch, length),
    ...options.validation,
  }
  const reports: Follower['reports'] = []
  const changes: Follower['changes'] = []
  store.onHeadChange((reverted, applied) => changes.push({ reverted, applied }))
  const syncer = new Syncer({
    validation,
    vm: options.mode === 'execute' ? (options.vm?.(vm, view) ?? vm) : undefined,
    meta,
    source: options.source,
    // Who executes has all of the state; only the fetching follower may lack some.
    edge: options.mode === 'headers' || options.fetches === true ? fetcher.run : async (run) => run(),
    ahead: { blocks: ahead, edge: new BlockFetcher(ahead, [peers]).run },
    clock,
    timers: options.time ?? realTimers,
    log: silentLog,
    report: (peer, what) => reports.push({ peer, what }),
    threshold: options.threshold ?? 1,
    makesBlocks: options.makesBlocks ?? false,
  })
  syncer.start()
  return { store, view, syncer, blocks, meta, reports, changes, fetched: () => fetched, missed }
}

/** Resolves when no worker is under way and nothing more comes of what was offered. */
export async function settled(syncer: Syncer): Promise<void> {
  for (let quiet = 0; quiet < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    quiet = syncer.isWorking ? 0 : quiet + 1
  }
}

/** The head's name, for comparisons. */
export function headName(store: ChainStore): string {
  return `${store.head().height} ${store.head().key.join(' ')}`
}
