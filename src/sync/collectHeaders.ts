/**
 * Headers from a target down to what is known to be valid, kept as they come.
 * @see lotus chain/sync.go collectHeaders, syncFork
 */
import { equalBytes } from '../base/bytes.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { BlockDamaged, BlockMissing } from '../ipld/errors.ts'
import type { Network } from '../networks/network.ts'
import type { ChainSource, FetchedTipset } from '../p2p/chainSource.ts'
import type { Misbehaviour, PeerName } from '../p2p/peerLinks.ts'
import { equalTipsetKeys, firstBlock, repeatedCid, sameCids, type Tipset, type TipsetKey } from '../types/tipset.ts'
import { type BadBlocks, badReasonText, linkedReason } from './badBlocks.ts'
import { SyncError } from './errors.ts'
import { FETCH_ATTEMPTS, FORK_WINDOW, HEADER_WINDOW } from './limits.ts'
import { SYNC_STAGE, type SyncProgress } from './syncState.ts'

const FORK_WINDOW_GROWTH = 5

/** Where headers are kept and fetched from, and how those known to be valid are told. */
export interface CollectDeps {
  readonly store: ChainStore
  readonly network: Network
  readonly source: ChainSource
  readonly edge: BlockEdge
  readonly bad: BadBlocks
  /** Whether a tipset was found valid before, and what its children build on is at hand. */
  readonly isValid: (tipset: Tipset) => boolean
  readonly report: (peer: PeerName, what: Misbehaviour) => void
}

/** One collection: its target, and who follows and ends it. */
export interface CollectOptions {
  readonly target: Tipset
  readonly progress: SyncProgress
  readonly signal: AbortSignal
  /** Asked first. */
  readonly prefer: PeerName | undefined
  /** For a new checkpoint: the present one does not bind. */
  readonly ignoreCheckpoint: boolean
}

/**
 * Walks down from the target, in the store as far as it reaches and by chain exchange where it does not, until it meets the
 * head's chain.
 * @returns keys of the tipsets to be validated, newest first, the target's the first of them; the parents of the last are
 *   valid. Empty when the target is valid already.
 * @throws SyncError `BAD_ANCESTOR`, `FORK_TOO_LONG`, `FORK_BELOW_CHECKPOINT`, `OTHER_GENESIS` (the target is remembered as
 *   bad), `BEACON_ENTRIES_DIFFER`, `HEADERS_INVALID`; P2pError when nobody answers
 */
export function collectHeaders(deps: CollectDeps, options: CollectOptions): Promise<TipsetKey[]> {
  return new HeaderWalk(deps, options).run()
}

/** The tipset if all its headers are here. */
function tryTipset(store: ChainStore, key: TipsetKey): Tipset | undefined {
  try {
    return store.tipset(key)
  } catch (error) {
    if (error instanceof BlockMissing) return undefined
    throw error
  }
}

class HeaderWalk {
  readonly #deps: CollectDeps
  readonly #options: CollectOptions
  readonly #headHeight: number
  readonly #keys: TipsetKey[] = []
  /** Our own chain, walked back beside the target's. */
  #ours: Tipset
  /** Tipsets of our own chain that the target's does not have. */
  #reverted = 0
  /** What lies below was validated before; the walk goes on only to see where the fork begins. */
  #metValid = false
  #forkWindow = FORK_WINDOW

  constructor(deps: CollectDeps, options: CollectOptions) {
    this.#deps = deps
    this.#options = options
    this.#ours = deps.store.head()
    this.#headHeight = this.#ours.height
  }

  async run(): Promise<TipsetKey[]> {
    const { target, signal, progress } = this.#options
    this.#checkBeaconEntries(target)
    for (let at = target; !(await this.#meets(at)); ) {
      signal.throwIfAborted()
      this.#accept(at)
      progress.height(at.height)
      at = await this.#parents(at)
    }
    return this.#keys
  }

  /** The parents of a tipset, fetched where they are not here. */
  async #parents(child: Tipset): Promise<Tipset> {
    const { store } = this.#deps
    const { parents } = firstBlock(child)
    this.#refuseBad(parents)
    // Nobody is asked for them: others make a tipset of such a key, and would be blamed for it.
    const repeated = repeatedCid(parents)
    if (repeated !== undefined) throw this.#unlinked(child, `a block twice among the parents (${repeated})`)
    let found = tryTipset(store, parents)
    if (found === undefined) {
      await this.#fetch(parents, child)
      found = store.tipset(parents)
    }
    this.#checkLink(found, parents, child)
    return found
  }

  /** Whether `tipset` lies on our own chain, walking that back to its height. */
  async #meets(tipset: Tipset): Promise<boolean> {
    const { store, network, edge } = this.#deps
    const { signal, ignoreCheckpoint } = this.#options
    const checkpoint = ignoreCheckpoint ? undefined : store.checkpoint()
    while (this.#ours.height > tipset.height) {
      const left = this.#ours
      if (checkpoint !== undefined && equalTipsetKeys(left.key, checkpoint.key)) {
        throw this.#refused('FORK_BELOW_CHECKPOINT', 'diverges from checkpoint')
      }
      if (++this.#reverted > network.protocol.chainFinality) throw this.#refused('FORK_TOO_LONG', 'fork past finality')
      this.#ours = await edge(() => store.parent(left), signal)
    }
    if (equalTipsetKeys(this.#ours.key, tipset.key)) return true
    if (tipset.height === 0) throw this.#refused('OTHER_GENESIS', 'links back to a different genesis')
    return false
  }

  /** A tipset that is to be validated, unless it was before. */
  #accept(tipset: Tipset): void {
    this.#metValid ||= this.#deps.isValid(tipset)
    if (!this.#metValid) this.#keys.push(tipset.key)
  }

  #refuseBad(key: TipsetKey): void {
    const { bad } = this.#deps
    const found = bad.find(key)
    if (found === undefined) return
    const reason = linkedReason(found.reason, `linked to ${found.cid.toString()}`)
    for (const held of [this.#options.target.key, ...this.#keys]) bad.addAll(held, reason)
    const text = `chain linked to block marked previously as bad (${found.cid.toString()}) (reason: ${badReasonText(found.reason)})`
    throw new SyncError('BAD_ANCESTOR', text, { cid: found.cid.toString() })
  }

  #refused(code: 'FORK_TOO_LONG' | 'FORK_BELOW_CHECKPOINT' | 'OTHER_GENESIS', reason: string): SyncError {
    const { target, prefer } = this.#options
    this.#deps.bad.addAll(target.key, { reason, tipset: target.key })
    if (code === 'OTHER_GENESIS' && prefer !== undefined) this.#deps.report(prefer, { fault: 'DEAD_END', reason })
    return new SyncError(code, `failed to sync fork: ${reason}`, { height: target.height })
  }

  /** @throws SyncError `HEADERS_INVALID`; BlockDamaged */
  #checkLink(tipset: Tipset, key: TipsetKey, child: Tipset): void {
    // What came from peers was compared with its name before it was kept.
    const other = key.find((cid) => !tipset.key.some((known) => known.equals(cid)))
    if (other !== undefined) throw new BlockDamaged(other)
    if (tipset.height < child.height) return
    throw this.#unlinked(child, `parents at height ${tipset.height} of a block at ${child.height}`)
  }

  /** Of a tipset whose blocks name parents that none can have. */
  #unlinked(child: Tipset, reason: string): SyncError {
    this.#deps.bad.addAll(child.key, { reason, tipset: child.key })
    return new SyncError('HEADERS_INVALID', `headers at height ${child.height} do not link: ${reason}`)
  }

  /** Fetches a window that begins at `key`, and keeps its headers. */
  async #fetch(key: TipsetKey, child: Tipset): Promise<void> {
    const { source, store, report } = this.#deps
    const { progress, prefer, signal } = this.#options
    const length = this.#windowAt(child.height)
    for (let attempt = 1; ; attempt++) {
      const options = prefer === undefined || attempt > 1 ? { signal } : { prefer, signal }
      const { peer, tipsets } = await source.fetch({ head: key, length, messages: false }, options)
      const wrong = windowError(tipsets, key)
      if (wrong === undefined) {
        progress.stage(SYNC_STAGE.persistHeaders)
        for (const { tipset } of tipsets) for (const block of tipset.blocks) store.putHeader(block)
        progress.stage(SYNC_STAGE.headers)
        return
      }
      report(peer, { fault: 'FALSE_ANSWER', reason: `headers: ${wrong}` })
      if (attempt === FETCH_ATTEMPTS) {
        throw new SyncError('HEADERS_INVALID', `retrieved segments of the chain are not connected: ${wrong}`)
      }
    }
  }

  /** Down to our head's height at most; below it a fork is sought, in windows that grow. */
  #windowAt(height: number): number {
    const gap = height - 1 - this.#headHeight
    if (gap > 0) return Math.min(HEADER_WINDOW, gap)
    const window = this.#forkWindow
    this.#forkWindow = Math.min(HEADER_WINDOW, window * FORK_WINDOW_GROWTH)
    return window
  }

  #checkBeaconEntries(target: Tipset): void {
    const first = firstBlock(target).beaconEntries
    if (first.some(({ round }, i) => i > 0 && round < (first[i - 1]?.round ?? 0))) {
      const reason = 'wrong order of beacon entries'
      this.#deps.bad.add(target.key[0] as TipsetKey[number], { reason, tipset: target.key })
      throw new SyncError('BEACON_ENTRIES_DIFFER', reason)
    }
    // Which of the blocks is wrong cannot be told: none is remembered as bad.
    for (const { beaconEntries } of target.blocks) {
      const equal =
        beaconEntries.length === first.length &&
        beaconEntries.every(({ round, data }, i) => round === first[i]?.round && equalBytes(data, first[i].data))
      if (!equal) throw new SyncError('BEACON_ENTRIES_DIFFER', 'tipset contained different beacon entries')
    }
  }
}

/**
 * What is wrong with an answer. The heights are none of it, nor is the order in which blocks name their parents: they are in what was asked
 * for by CID, so that whoever made the blocks answers for them (they are looked at link by link), not whoever has them.
 */
function windowError(tipsets: readonly FetchedTipset[], key: TipsetKey): string | undefined {
  if (tipsets.length === 0) return 'no tipset'
  let expected = key
  for (const { tipset } of tipsets) {
    if (!sameCids(expected, tipset.key)) return 'another tipset than asked for'
    expected = firstBlock(tipset).parents
  }
  return undefined
}
