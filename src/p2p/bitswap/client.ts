/**
 * Fetches blocks: from the peer that answered last; when it has not got one, or takes long, from whoever says to have
 * it. A block that several callers want is asked for once, and each waits its own time for it.
 * @see ipfs/boxo bitswap/client/internal/session
 */
import { toHex } from '../../base/bytes.ts'
import type { Timers } from '../../base/ports.ts'
import { abortable } from '../../base/waiting.ts'
import type { Cid } from '../../codec/cid.ts'
import type { BlockSource } from '../../ipld/withBlocks.ts'
import { P2pError } from '../errors.ts'
import { abortReason } from '../framing/patientStream.ts'
import type { PeerBudget } from '../peerBudget.ts'
import { byDemerits, type PeerLinks, type PeerName } from '../peerLinks.ts'
import { ANSWERED_WEIGHT, MERIT_TAGS } from '../peers/peerTags.ts'
import { ASK_AGAIN_MS, FETCH_WINDOW, MAX_HEDGE_MS, MAX_WANTS, RETRY_MS, WANT_MS } from './limits.ts'
import {
  type BitswapMessage,
  bareDigests,
  type Presence,
  type ReceivedMessage,
  type SentBlock,
  type Want,
} from './messages.ts'
import type { Swarm } from './swarm.ts'
import { WantedBlock } from './wantedBlock.ts'

/** Bytes of an entry of a wantlist, about. */
const ENTRY_BYTES = 50
/** From then on nobody is asked again by itself. */
const OLD_MS: number = Math.max(...ASK_AGAIN_MS)
/** Bytes for which an unasked block counts once more. */
const UNASKED_UNIT_BYTES = 65_536

/** What the client asks with, and how it learns which peers there are. */
export interface BlockClientDeps {
  readonly links: PeerLinks
  /** Newest first. */
  readonly protocols: readonly string[]
  readonly timers: Timers
  readonly swarm: Swarm
  readonly send: (peer: PeerName, message: BitswapMessage, sizeBytes: number) => Promise<void>
  /** Of blocks that nobody asked for. */
  readonly unasked: PeerBudget
  /** Hears that blocks are asked for though nobody who is connected has ever answered. */
  readonly onMute: (peers: number) => void
}

/** Fetches blocks by CID from peers that speak bitswap; each is hashed before anybody gets it. */
export class BlockClient implements BlockSource {
  readonly #deps: BlockClientDeps
  readonly #wanted = new Map<string, WantedBlock>()
  #closed = false

  constructor(deps: BlockClientDeps) {
    this.#deps = deps
  }

  /** Blocks under way. */
  get pending(): number {
    return this.#wanted.size
  }

  /**
   * Blocks that could be had, each within 30 s; fewer than asked for when nobody has the others.
   * @throws P2pError `TOO_LARGE` when too many are under way; the signal's reason
   */
  async fetch(cids: readonly Cid[], signal: AbortSignal | undefined): Promise<readonly (readonly [Cid, Uint8Array])[]> {
    if (cids.length <= FETCH_WINDOW) return this.#fetchWindow(cids, signal)
    const out: (readonly [Cid, Uint8Array])[] = []
    for (let i = 0; i < cids.length; i += FETCH_WINDOW) {
      out.push(...(await this.#fetchWindow(cids.slice(i, i + FETCH_WINDOW), signal)))
    }
    return out
  }

  async #fetchWindow(
    cids: readonly Cid[],
    signal: AbortSignal | undefined,
  ): Promise<readonly (readonly [Cid, Uint8Array])[]> {
    if (signal?.aborted === true) throw abortReason(signal)
    if (this.#closed || cids.length === 0) return []
    const { wanted, fresh } = this.#want(cids)
    const over = Promise.withResolvers<undefined>()
    const cancelTimer = this.#deps.timers.setTimeout(() => over.resolve(undefined), WANT_MS)
    for (const want of wanted) want.waiting++
    this.#begin(fresh)
    try {
      const all = Promise.all(
        wanted.map(async (want) => [want.cid, await Promise.race([want.settled, over.promise])] as const),
      )
      const found = await (signal === undefined ? all : abortable(all, signal))
      return found.filter((pair): pair is readonly [Cid, Uint8Array] => pair[1] !== undefined)
    } finally {
      cancelTimer()
      for (const want of wanted) want.waiting--
      this.#dropUnwanted(wanted)
    }
  }

  #want(cids: readonly Cid[]): { wanted: WantedBlock[]; fresh: WantedBlock[] } {
    if (this.#wanted.size + cids.length > MAX_WANTS) {
      throw new P2pError('TOO_LARGE', `Cannot fetch ${cids.length} blocks: ${this.#wanted.size} are under way`)
    }
    const wanted = new Map<string, WantedBlock>()
    const fresh: WantedBlock[] = []
    for (const cid of cids) {
      let want = wanted.get(cid.key) ?? this.#wanted.get(cid.key)
      if (want === undefined) {
        want = new WantedBlock(cid)
        this.#wanted.set(cid.key, want)
        fresh.push(want)
      } else if (want.isOld) {
        want.isOld = false
        want.askAnew()
        fresh.push(want)
      }
      wanted.set(cid.key, want)
    }
    return { wanted: [...wanted.values()], fresh }
  }

  #candidates(): PeerName[] {
    const { links, protocols, swarm } = this.#deps
    const speakers = links.peers().filter((peer) => protocols.some((name) => links.speaks(peer, name)))
    return byDemerits(links, swarm.order(speakers))
  }

  /** Asks the best peer for new wants; without peers they end at once. */
  #begin(fresh: readonly WantedBlock[]): void {
    const candidates = this.#candidates()
    const [best] = candidates
    if (best === undefined) {
      for (const want of fresh) this.#settle(want, undefined)
      return
    }
    if (fresh.length === 0) return
    if (candidates.every((peer) => this.#deps.swarm.isMute(peer))) this.#deps.onMute(candidates.length)
    this.#askFor(best, fresh)
  }

  /** Asks a peer for blocks; others when it takes long, and itself once more in case the question got lost. */
  #askFor(peer: PeerName, wanted: readonly WantedBlock[]): void {
    const { swarm, timers } = this.#deps
    for (const want of wanted) want.asked.set(peer, 'block asked')
    this.#request(peer, wanted)
    const late = (): WantedBlock[] => wanted.filter((want) => !want.done && want.asked.get(peer) === 'block asked')
    const cancels = [
      timers.setTimeout(() => this.#askOthers(late()), swarm.hedgeMs(peer)),
      ...ASK_AGAIN_MS.map((ms) => timers.setTimeout(() => this.#request(peer, late()), ms)),
      timers.setTimeout(() => {
        for (const want of wanted) want.isOld = true
      }, OLD_MS),
    ]
    void Promise.all(wanted.map((want) => want.settled)).then(() => {
      for (const cancel of cancels) cancel()
    })
  }

  #request(peer: PeerName, wanted: readonly WantedBlock[]): void {
    if (wanted.length === 0) return
    for (const want of wanted) this.#deps.swarm.asks(peer, want.cid.key)
    this.#send(peer, wanted, 'block')
  }

  #send(peer: PeerName, wanted: readonly WantedBlock[], type: Want['type']): void {
    const wants = wanted.map(({ cid }): Want => ({ cid, type, cancel: false, sendDontHave: true }))
    this.#deps.links.expect(peer, wants.length)
    this.#deps
      .send(peer, { wants, blocks: [], presences: [] }, wants.length * ENTRY_BYTES)
      .catch(() => this.#lost(peer, wanted))
  }

  /** A peer that cannot be asked has nothing. */
  #lost(peer: PeerName, wanted: readonly WantedBlock[]): void {
    const open = wanted.filter((want) => !want.done)
    for (const want of open) want.asked.set(peer, 'has it not')
    this.#askOthers(open.filter((want) => !want.underWay))
  }

  /**
   * Goes on for wants whose peer has failed them: whoever has it, else whoever was not asked, else all again later.
   * @param isLate - those who were asked whether they have it take long: others are asked, too
   */
  #askOthers(wanted: readonly WantedBlock[], isLate = false): void {
    const { swarm, timers } = this.#deps
    const candidates = this.#candidates()
    const blocks = new Map<PeerName, WantedBlock[]>()
    const haves = new Map<PeerName, WantedBlock[]>()
    for (const want of wanted) {
      if (want.done) continue
      const owner = candidates.find((peer) => want.asked.get(peer) === 'has it')
      if (owner !== undefined) {
        push(blocks, owner, want)
        continue
      }
      // Those who were asked whether they have it may still say so.
      if (!isLate && [...want.asked.values()].includes('have asked')) continue
      const unasked = candidates.filter((peer) => !want.asked.has(peer)).slice(0, want.fanout)
      for (const peer of unasked) push(haves, peer, want)
      if (!want.open && unasked.every((peer) => swarm.isMute(peer))) this.#later(want)
    }
    for (const [peer, list] of blocks) this.#askFor(peer, list)
    for (const [peer, list] of haves) {
      for (const want of list) {
        want.asked.set(peer, swarm.isMute(peer) ? 'not awaited' : 'have asked')
        // A small block comes at once instead of the word that it is there.
        swarm.asks(peer, want.cid.key)
      }
      this.#send(peer, list, 'have')
    }
    // Twice as many each time: among many strangers who say nothing it is found all the same.
    const asked = new Set([...haves.values()].flat())
    if (asked.size === 0) return
    for (const want of asked) want.fanout *= 2
    const cancel = timers.setTimeout(() => {
      this.#askOthers(
        [...asked].filter((want) => !want.pausing && !want.isOld),
        true,
      )
    }, MAX_HEDGE_MS)
    void Promise.all([...asked].map((want) => want.settled)).then(cancel)
  }

  /** Nobody has it: everybody is asked again, a few times, then it is given up. */
  #later(want: WantedBlock): void {
    if (want.pausing) return
    const pause = RETRY_MS[want.rounds++]
    if (pause === undefined) {
      this.#settle(want, undefined)
      return
    }
    want.pausing = true
    this.#deps.timers.setTimeout(() => {
      want.pausing = false
      if (want.done) return
      want.askAnew()
      this.#begin([want])
    }, pause)
  }

  #settle(want: WantedBlock, data: Uint8Array | undefined): void {
    this.#wanted.delete(want.cid.key)
    want.settle(data)
  }

  /** What nobody waits for any more is cancelled where it was asked. */
  #dropUnwanted(wanted: readonly WantedBlock[]): void {
    const cancels = new Map<PeerName, WantedBlock[]>()
    for (const want of wanted) {
      if (want.waiting > 0) continue
      if (!want.done) this.#settle(want, undefined)
      // Of whoever said no, too: it would send the block when it comes by it.
      for (const peer of want.asked.keys()) push(cancels, peer, want)
    }
    for (const [peer, list] of cancels) {
      const wants = list.map(({ cid }): Want => ({ cid, type: 'block', cancel: true, sendDontHave: false }))
      this.#deps.send(peer, { wants, blocks: [], presences: [] }, wants.length * ENTRY_BYTES).catch(() => undefined)
    }
  }

  /** What a peer sent. @returns whether it sends more that was not asked for than is borne */
  receive(peer: PeerName, message: ReceivedMessage): boolean {
    if (message.blocks.length + message.bareBlocks.length + message.presences.length > 0) this.#deps.swarm.spoke(peer)
    let unasked = message.unusable
    for (const block of message.blocks) if (!this.#receiveBlock(peer, block)) unasked += unitsOf(block.data)
    const bare = message.bareBlocks
    const wanted = bare.length === 0 ? undefined : this.#wantedOf(peer)
    for (const data of bare) if (!this.#receiveBare(peer, data, wanted)) unasked += unitsOf(data)
    if (message.presences.length > 0) this.#receivePresences(peer, message.presences)
    if (unasked === 0 || this.#deps.unasked.spend(peer, unasked)) return false
    this.#deps.links.report(peer, { fault: 'UNASKED', reason: 'bitswap: blocks that were not asked for' })
    return true
  }

  /** @returns whether it was to be expected */
  #receiveBlock(peer: PeerName, block: SentBlock): boolean {
    const { key } = block.cid
    const want = this.#wanted.get(key)
    if (!this.#deps.swarm.brought(peer, key, want !== undefined)) return false
    if (want === undefined) return true
    this.#deps.links.tag(peer, MERIT_TAGS.answered, ANSWERED_WEIGHT)
    want.asked.delete(peer)
    // The message is one buffer: a small block must not keep all of it.
    this.#settle(want, new Uint8Array(block.data))
    return true
  }

  /** What was asked of a peer and has not come, by digest as hex. */
  #wantedOf(peer: PeerName): ReadonlyMap<string, Cid> {
    const wanted = new Map<string, Cid>()
    for (const { cid, asked } of this.#wanted.values()) if (asked.has(peer)) wanted.set(toHex(cid.digest), cid)
    return wanted
  }

  #receiveBare(peer: PeerName, data: Uint8Array, wanted: ReadonlyMap<string, Cid> | undefined): boolean {
    for (const digest of bareDigests(data)) {
      const cid = wanted?.get(digest)
      if (cid !== undefined) return this.#receiveBlock(peer, { cid, data })
    }
    return false
  }

  #receivePresences(peer: PeerName, presences: readonly Presence[]): void {
    const stranded: WantedBlock[] = []
    for (const { cid, has } of presences) {
      const want = this.#wanted.get(cid.key)
      const state = want?.asked.get(peer)
      if (want === undefined || state === undefined) continue
      if (!has) {
        want.asked.set(peer, 'has it not')
      } else if (state !== 'block asked') want.asked.set(peer, 'has it')
      if (!want.underWay) stranded.push(want)
      else if (has && (state === 'have asked' || state === 'not awaited')) stranded.push(want)
    }
    this.#askOthers(stranded)
  }

  /** A peer left: what it was asked for goes to others. */
  forget(peer: PeerName): void {
    const stranded: WantedBlock[] = []
    for (const want of this.#wanted.values()) {
      if (want.asked.delete(peer) && !want.underWay) stranded.push(want)
    }
    this.#askOthers(stranded)
  }

  /** Ends everything that is under way, with nothing. */
  close(): void {
    this.#closed = true
    for (const want of [...this.#wanted.values()]) this.#settle(want, undefined)
  }
}

/** What an unasked block counts for. */
function unitsOf(data: Uint8Array): number {
  return 1 + Math.floor(data.length / UNASKED_UNIT_BYTES)
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
