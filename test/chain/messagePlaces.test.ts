/**
 * Searches with rows of where messages lie, beside those that walk the chain: the same answers, whatever the rows say. What walks find
 * is compared with Lotus in test/rpc/methods/search.test.ts.
 */
import { describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { toHex } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueOp } from '../../src/base/ports.ts'
import { storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { PLACE_GENERATION_EPOCHS, PLACE_GENERATIONS, PLACES_BELOW, PLACES_UNNOTED } from '../../src/chain/limits.ts'
import { MessagePlaces, PlaceNotes } from '../../src/chain/messagePlaces.ts'
import {
  executedIn,
  foundByPlace,
  loadSought,
  NO_LOOKBACK_LIMIT,
  type SearchDeps,
  type SearchOptions,
  searchByCid,
} from '../../src/chain/searchMessage.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { delegatedHash } from '../../src/eth/ethTransactionOf.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { idAddress, secp256k1Address } from '../../src/types/address.ts'
import { chainMessageCid } from '../../src/types/chainMessage.ts'
import { type Message, messageCid } from '../../src/types/message.ts'
import { createTipset, equalTipsetKeys, type Tipset } from '../../src/types/tipset.ts'
import { FailingStore } from '../support/failingStore.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { header } from './buildChain.ts'

const CHAIN = 'nv28'
const missing = missingShared(`data/golden/${CHAIN}`)
const SEARCHES = 150
/** When a node is past its start. */
const BELOW_AFTER_MS = 10_000

interface Recorded {
  readonly deps: SearchDeps
  readonly rows: MemoryStore
  readonly notes: PlaceNotes
  readonly head: Tipset
  /** Lowest first. */
  readonly tipsets: readonly Tipset[]
  readonly cids: readonly Cid[]
}

/** Counts what is written. */
class CountedStore extends MemoryStore {
  commits = 0
  onCommit = (): void => undefined

  override async commit(ops: readonly KeyValueOp[]): Promise<void> {
    await super.commit(ops)
    this.commits++
    this.onCommit()
  }
}

/** The chain with its head at the genesis; what it moves to is noted. */
function open(): Recorded {
  const { view, vm } = openRecordedView(CHAIN)
  const head = view.store.head()
  const tipsets: Tipset[] = []
  for (let at = head; at.height > 0; at = view.store.parent(at)) tipsets.unshift(at)
  const cids = tipsets.flatMap((tipset) => view.tipsetMessages(tipset).map(chainMessageCid))
  view.store.setHead(view.store.genesis())
  const rows = new MemoryStore()
  const places = new MessagePlaces({ view, rows })
  const notes = new PlaceNotes({
    ...{ view, rows, clock: systemClock, timers: systemTimers, log: silentLog },
    otherHash: (message) => delegatedHash(message, BigInt(view.network.chainId)),
  })
  return { deps: { view, vm, places }, rows, notes, head, tipsets, cids }
}

/** A chain without anything else: so many epochs of one block each, its messages by height. */
function chainOf(
  network: ChainView['network'],
  epochs: number,
  listed: (height: number) => readonly Message[],
): { view: ChainView; top: Tipset } {
  const blocks = new MemoryBlockstore()
  const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
  store.setGenesis(header(undefined, 0, 0))
  let top = store.genesis()
  for (let height = 1; height <= epochs; height++) {
    const messages = storeBlockMessages(blocks, { bls: listed(height), signed: [] })
    const next = { ...header(top, height, 0), messages }
    store.putHeader(next)
    top = createTipset([next])
  }
  return { view: new ChainView({ store, network, beaconRound: () => 0 }), top }
}

const MESSAGE: Message = {
  ...{ version: 0, from: secp256k1Address(Uint8Array.of(4, 1)), to: idAddress(1000), nonce: 0n, value: 0n },
  ...{ gasLimit: 1n, gasFeeCap: 0n, gasPremium: 0n, method: 0n, params: new Uint8Array(0) },
}

async function outcome(cid: Cid, from: Tipset, options: SearchOptions, deps: SearchDeps): Promise<unknown> {
  try {
    const found = await searchByCid(cid, from, options, deps)
    return found && [String(found.cid), found.receipt, found.tipset.key.map(String)]
  } catch (error) {
    if (error instanceof ChainError) return [error.code, error.message]
    throw error
  }
}

describe.skipIf(missing !== undefined)('rows of where messages lie', () => {
  async function expectAlike({ deps, tipsets, cids }: Recorded): Promise<void> {
    const random = seeded('message places')
    for (let i = 0; i < SEARCHES; i++) {
      const cid = cids[random.int(cids.length)] as Cid
      const from = tipsets[random.int(tipsets.length)] as Tipset
      const limit = random.int(3) === 0 ? NO_LOOKBACK_LIMIT : random.int(120)
      const options = { limit, allowReplaced: random.int(2) === 0 }
      const walked = await outcome(cid, from, options, { ...deps, places: undefined })
      expect(await outcome(cid, from, options, deps), `${cid} below ${from.height}, ${limit}`).toEqual(walked)
    }
  }

  it('know every message that the head has moved over, and where it was executed', async () => {
    const recorded = open()
    const { deps, notes, head, cids } = recorded
    deps.view.store.setHead(head)
    await notes.settled()
    const options = { limit: NO_LOOKBACK_LIMIT, allowReplaced: false }
    let known = 0
    for (const cid of cids) {
      const found = await foundByPlace(cid, head, options, deps)
      if (found === undefined) continue
      known++
      expect(await executedIn(found.tipset, loadSought(deps.view, cid), { allowReplaced: false }, deps)).toEqual(found)
    }
    // The head's own are not executed yet.
    expect(known).toBe(cids.length - deps.view.tipsetMessages(head).length)
    await expectAlike(recorded)
    await notes.stop()
  })

  it("know delegated messages by Ethereum's hash, and no message by a CID with that hash", async () => {
    const { deps, notes, head, tipsets } = open()
    const { view } = deps
    view.store.setHead(head)
    await notes.settled()
    let hashes = 0
    for (const tipset of tipsets.slice(0, -1)) {
      const messages = view.tipsetMessages(tipset)
      for (let position = 0; position < messages.length; position++) {
        const message = messages[position] as (typeof messages)[0]
        const hash = delegatedHash(message, BigInt(view.network.chainId)) ?? chainMessageCid(message).digest
        const place = await deps.places?.ofHash(hash, head, 0, (steps) => {
          for (;;) {
            const next = steps.next()
            if (next.done === true) return next.value
          }
        })
        expect(place?.position).toBe(position)
        expect(equalTipsetKeys(view.store.parent(place?.tipset as Tipset).key, tipset.key)).toBe(true)
        hashes++
      }
    }
    expect(hashes).toBeGreaterThan(100)
    await notes.stop()
  })

  it('are of no weight when a reorganisation left what they say', async () => {
    const recorded = open()
    const { deps, notes, head, tipsets } = recorded
    const { store } = deps.view
    // Each tipset of several blocks was a smaller one first: its messages lay elsewhere, or were not there.
    let left = 0
    for (const tipset of tipsets) {
      if (tipset.blocks.length > 1) {
        store.setHead(createTipset(tipset.blocks.slice(1)))
        await notes.settled()
        left++
      }
    }
    expect(left).toBeGreaterThan(50)
    await expectAlike(recorded)
    store.setHead(head)
    await notes.settled()
    await expectAlike(recorded)
    await notes.stop()
  })

  it('are made of the chain below a head, too, that nobody moved to, once, and go on after a stop', async () => {
    const { deps, rows: followed, notes, head, tipsets } = open()
    const { view } = deps
    view.store.setHead(head)
    await notes.settled()
    await notes.stop()
    const rows = new CountedStore()
    const noteBelow = async (stopsAfter: number): Promise<number> => {
      const time = new VirtualTime()
      const below = new PlaceNotes({
        ...{ view, rows, clock: time, timers: time, log: silentLog },
        otherHash: (message) => delegatedHash(message, BigInt(view.network.chainId)),
      })
      rows.commits = 0
      rows.onCommit = () => {
        if (rows.commits === stopsAfter) void below.stop()
      }
      below.beginBelow()
      await time.advance(BELOW_AFTER_MS)
      await below.settled()
      await below.stop()
      return rows.commits
    }
    const all = tipsets.filter((tipset) => view.tipsetMessages(tipset).length > 0).length
    expect(all).toBeGreaterThan(50)
    expect(await noteBelow(7)).toBe(7)
    expect(await noteBelow(all)).toBe(all - 7)
    expect(await noteBelow(all)).toBe(0)
    const entries = (store: MemoryStore): string[][] =>
      [...store.keys()].map((key) => [toHex(key), toHex(store.get(key) as Uint8Array)]).sort()
    expect(entries(rows)).toEqual(entries(followed))
  })

  it('need not be there, all or some, nor be whole', async () => {
    const recorded = open()
    const { deps, rows, notes, head } = recorded
    deps.view.store.setHead(head)
    await notes.settled()
    await notes.stop()
    const random = seeded('lost rows')
    expect([...rows.keys()].length).toBeGreaterThan(200)
    for (const key of rows.keys()) {
      if (random.int(3) === 0) rows.delete(key)
      else if (random.int(2) === 0) rows.put(key, random.bytes(random.int(2) === 0 ? 24 : 7))
    }
    await expectAlike(recorded)
  })

  it('of so many tipsets wait to be noted, and with one more the lowest is passed over', async () => {
    const { deps } = open()
    for (const above of [PLACES_UNNOTED - 1, PLACES_UNNOTED]) {
      const rows = new MemoryStore()
      const { view, top } = chainOf(deps.view.network, above + 1, (height) => [
        { ...MESSAGE, nonce: height === 1 ? 0n : 1n },
      ])
      const notes = new PlaceNotes({
        ...{ view, rows, clock: systemClock, timers: systemTimers, log: silentLog },
        otherHash: () => undefined,
      })
      view.store.setHead(top)
      await notes.settled()
      expect([...rows.keys()].filter((key) => (key[4] as number) < 2).length).toBe(above < PLACES_UNNOTED ? 2 : 1)
      await notes.stop()
    }
  })

  it('are made of the next tipsets after one whose rows the disk did not take', async () => {
    const { deps } = open()
    const rows = new FailingStore()
    const { view, top } = chainOf(deps.view.network, 3, (height) => [{ ...MESSAGE, nonce: BigInt(height) }])
    const notes = new PlaceNotes({
      ...{ view, rows, clock: systemClock, timers: systemTimers, log: silentLog },
      otherHash: () => undefined,
    })
    rows.fault = 'write'
    view.store.setHead(view.store.parent(view.store.parent(top)))
    await notes.settled()
    rows.fault = 'none'
    view.store.setHead(top)
    await notes.settled()
    // Two tipsets, each with its message and the row that it is noted.
    expect([...rows.keys()]).toHaveLength(4)
    await notes.stop()
  })

  it('are made of so many epochs below a head, and not of one more', async () => {
    const { deps } = open()
    for (const epochs of [PLACES_BELOW, PLACES_BELOW + 1]) {
      const rows = new MemoryStore()
      const time = new VirtualTime()
      const { view, top } = chainOf(deps.view.network, epochs, (height) => (height === 1 ? [MESSAGE] : []))
      view.store.setHead(top)
      const notes = new PlaceNotes({
        ...{ view, rows, clock: time, timers: time, log: silentLog },
        otherHash: () => undefined,
      })
      notes.beginBelow()
      await time.advance(BELOW_AFTER_MS)
      await notes.settled()
      expect([...rows.keys()].length).toBe(epochs === PLACES_BELOW ? 2 : 0)
      await notes.stop()
    }
  })

  it('are looked for in as many generations as are kept, and in none before', async () => {
    const { deps } = open()
    const rows = new MemoryStore()
    const { view, top } = chainOf(deps.view.network, 2, (height) => (height === 1 ? [MESSAGE] : []))
    const notes = new PlaceNotes({
      ...{ view, rows, clock: systemClock, timers: systemTimers, log: silentLog },
      otherHash: () => undefined,
    })
    view.store.setHead(top)
    await notes.settled()
    const places = new MessagePlaces({ view, rows })
    const after = PLACE_GENERATIONS * PLACE_GENERATION_EPOCHS
    for (const [height, found] of [
      [after - 1, { tipset: top, position: 0 }],
      [after, undefined],
    ] as const) {
      const from = header(top, height, 0)
      view.store.putHeader(from)
      expect(await places.ofCid(messageCid(MESSAGE), createTipset([from]), 0)).toEqual(found)
    }
    await notes.stop()
  })

  it('of generations that are over go, oldest first', async () => {
    const { deps, rows } = open()
    const blocks = new MemoryBlockstore()
    const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
    const genesis = header(undefined, 0, 0)
    store.setGenesis(genesis)
    const view = new ChainView({ store, network: deps.view.network, beaconRound: () => 0 })
    const notes = new PlaceNotes({
      ...{ view, rows, clock: systemClock, timers: systemTimers, log: silentLog },
      otherHash: () => undefined,
    })
    const old = Array.from({ length: PLACE_GENERATIONS + 1 }, (_, generation) => {
      return Array.from({ length: 300 }, (_unused, i) => Uint8Array.of(0, 0, 0, generation, 0, i >> 8, i & 255))
    })
    for (const keys of old) for (const key of keys) rows.put(key, Uint8Array.of(1))
    let parent = store.genesis()
    const counts: number[] = []
    // The last epoch in which none of them is over, and those after it.
    for (let i = -1; i < 4; i++) {
      const next = header(parent, PLACE_GENERATIONS * PLACE_GENERATION_EPOCHS + i, 0)
      store.putHeader(next)
      parent = createTipset([next])
      store.setHead(parent)
      await notes.settled()
      counts.push([...rows.keys()].length)
    }
    expect(counts.slice(0, 2)).toEqual([4 * 300, 4 * 300 - 256])
    expect(counts.at(-1)).toBe(3 * 300)
    expect([...rows.keys()].every((key) => (key[3] as number) > 0)).toBe(true)
    await notes.stop()
  })
})
