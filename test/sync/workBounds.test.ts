/** Bounds of synchronisation's work, its windows and its attempts: each at the bound and one above. */
import { beforeAll, describe, expect, it } from 'vitest'
import { ChainError } from '../../src/chain/errors.ts'
import { type Cid, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import type { FetchedTipset } from '../../src/p2p/chainSource.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import type { Misbehaviour } from '../../src/p2p/peerLinks.ts'
import { BadBlocks } from '../../src/sync/badBlocks.ts'
import { BaseResults } from '../../src/sync/baseResults.ts'
import { collectHeaders } from '../../src/sync/collectHeaders.ts'
import { SyncError } from '../../src/sync/errors.ts'
import { ForkChoice } from '../../src/sync/forkChoice.ts'
import {
  BUSY_ATTEMPTS,
  BUSY_PAUSE_MS,
  EQUIVOCATION_SEARCH,
  FETCH_ATTEMPTS,
  FORK_WINDOW,
  HEAD_STEP,
  HEADER_WINDOW,
  INITIAL_SYNC_MS,
  MAX_HEADS,
  MAX_WORKERS,
  MESSAGE_WINDOW,
  STATE_MS,
  SYNC_AGAIN_MS,
  WORKER_HISTORY,
} from '../../src/sync/limits.ts'
import { type SyncJob, SyncScheduler } from '../../src/sync/scheduler.ts'
import { SyncProgress } from '../../src/sync/syncState.ts'
import { TipsetTracker } from '../../src/sync/tipsetTracker.ts'
import { TipsetValidator } from '../../src/sync/tipsetValidator.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset, type TipsetKey, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { createFollower, RecordedSource, settled, withMessages } from './follower.ts'
import { createWorld } from './world.ts'

beforeAll(async () => void (await initCrypto()))

function cidOf(i: number): Cid {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  return createCid(0x71, HASH_BLAKE2B_256, digest)
}

/** Tipsets of other chains each, of so many blocks. */
const apart = (i: number, blocks = 1, weight = 1_000n): Tipset =>
  createTipset(
    Array.from({ length: blocks }, (_, salt) => ({
      ...header(undefined, 10 + 3 * i, salt),
      parents: [cidOf(i)],
      parentWeight: weight,
    })),
  )

describe('workers', () => {
  interface Scheduled {
    readonly time: VirtualTime
    readonly scheduler: SyncScheduler
    readonly jobs: (SyncJob & { end: (error?: Error) => void; readonly ms: number })[]
  }

  function scheduled(threshold = 1): Scheduled {
    const time = new VirtualTime()
    const began = time.nowMs()
    const jobs: Scheduled['jobs'] = []
    const run = (job: SyncJob): Promise<void> =>
      new Promise((resolve, reject) => {
        const end = (error?: Error): void => (error === undefined ? resolve() : reject(error))
        jobs.push({ ...job, end, ms: time.nowMs() - began })
      })
    const deps = { clock: time, timers: time, log: silentLog, threshold, mayWin: () => true, run }
    return { time, scheduler: new SyncScheduler(deps), jobs }
  }

  it('so many at once', async () => {
    const { time, scheduler, jobs } = scheduled()
    scheduler.offer('peer', apart(0))
    await time.settle()
    jobs[0]?.end()
    await time.settle()
    for (let i = 1; i <= MAX_WORKERS; i++) scheduler.offer('peer', apart(i))
    await time.settle()
    expect(jobs).toHaveLength(1 + MAX_WORKERS)
    scheduler.offer('peer', apart(MAX_WORKERS + 1))
    await time.settle()
    expect(jobs).toHaveLength(1 + MAX_WORKERS)
    jobs[1]?.end()
    await time.settle()
    expect(jobs).toHaveLength(2 + MAX_WORKERS)
  })

  it('only one while the first sync is not over: a worker that took too long', async () => {
    for (const [ms, workers] of [
      [INITIAL_SYNC_MS - 1, 2],
      [INITIAL_SYNC_MS, 1],
    ] as const) {
      const { time, scheduler, jobs } = scheduled()
      scheduler.offer('peer', apart(0))
      await time.advance(ms)
      jobs[0]?.end()
      await time.settle()
      scheduler.offer('peer', apart(1))
      scheduler.offer('peer', apart(2))
      await time.settle()
      expect(jobs).toHaveLength(1 + workers)
    }
  })

  it('that ended: so many are shown', async () => {
    const { time, scheduler, jobs } = scheduled()
    for (let i = 0; i <= WORKER_HISTORY; i++) {
      expect(scheduler.states()).toHaveLength(i)
      scheduler.offer('peer', apart(i))
      await time.settle()
      jobs[i]?.end()
      await time.settle()
    }
    expect(scheduler.states()).toHaveLength(WORKER_HISTORY)
  })

  it('tells how many heads it waits for, until the first sync begins', async () => {
    const { time, scheduler, jobs } = scheduled(2)
    expect(scheduler.waits).toEqual({ heads: 0, threshold: 2 })
    scheduler.offer('one', apart(0))
    scheduler.offer('one', apart(1))
    expect(scheduler.waits).toEqual({ heads: 1, threshold: 2 })
    scheduler.offer('two', apart(2))
    await time.settle()
    expect([scheduler.waits, jobs.length]).toEqual([undefined, 1])
  })

  it('heads that are kept before the first sync', async () => {
    const enough = scheduled(MAX_HEADS)
    for (let i = 0; i < MAX_HEADS; i++) enough.scheduler.offer(`peer ${i}`, apart(i))
    await enough.time.settle()
    expect(enough.jobs).toHaveLength(1)
    const never = scheduled(MAX_HEADS + 1)
    for (let i = 0; i <= MAX_HEADS; i++) never.scheduler.offer(`peer ${i}`, apart(i))
    await never.time.settle()
    expect(never.jobs).toHaveLength(0)
  })

  it.each([
    new SyncError('HEADERS_UNAVAILABLE', 'nobody has them'),
    new P2pError('TIMEOUT', 'nobody answers'),
    // State that whoever named the head is still fetching itself.
    new BlockMissing([headerCid(header(undefined, 1, 1))]),
  ])('a target that nobody had is tried again, so often: $code', async (failure) => {
    const { time, scheduler, jobs } = scheduled()
    scheduler.offer('peer', apart(0))
    await time.settle()
    const at = [0]
    for (const [i, ms] of SYNC_AGAIN_MS.entries()) {
      jobs[i]?.end(failure)
      at.push((at.at(-1) as number) + ms)
      await time.advance(ms)
    }
    expect(jobs.map(({ ms }) => ms)).toEqual(at)
    jobs.at(-1)?.end(failure)
    await time.advance(600_000)
    expect(jobs).toHaveLength(SYNC_AGAIN_MS.length + 1)
    expect(time.pending).toBe(0)
  })
})

describe('headers', () => {
  /** Chains that end at one tipset: ours, which is here, and another's, which a peer has. */
  function fork(ours: number, theirs: number) {
    const genesis = createTipset([header(undefined, 0, 1)])
    const here = new Map([[tipsetKeyText(genesis.key), genesis]])
    const there = new Map(here)
    const grow = (length: number, salt: number, keep: Map<string, Tipset>): Tipset => {
      let at = genesis
      for (let i = 1; i <= length; i++) {
        at = createTipset([header(at, i, salt)])
        keep.set(tipsetKeyText(at.key), at)
      }
      return at
    }
    const head = grow(ours, 1, here)
    return { genesis, here, there, head, target: grow(theirs, 2, there) }
  }

  async function collected({ here, there, head, target }: ReturnType<typeof fork>, isWrong = false) {
    const lengths: number[] = []
    const reports: Misbehaviour[] = []
    const tipset = (key: TipsetKey): Tipset => {
      const found = here.get(tipsetKeyText(key))
      if (found === undefined) throw new BlockMissing(key)
      return found
    }
    const store = {
      head: () => head,
      checkpoint: () => undefined,
      tipset,
      parent: (child: Tipset) => tipset(firstBlock(child).parents),
      putHeader: (block: ReturnType<typeof header>) => {
        const made = createTipset([block])
        here.set(tipsetKeyText(made.key), made)
      },
    }
    const source = {
      fetch: ({ head: key, length }: { head: TipsetKey; length: number }) => {
        lengths.push(length)
        const tipsets: FetchedTipset[] = []
        for (let at = there.get(tipsetKeyText(key)); at !== undefined && tipsets.length < length; ) {
          tipsets.push({ tipset: at, messages: undefined })
          at = there.get(tipsetKeyText(firstBlock(at).parents))
        }
        return Promise.resolve({ peer: 'peer', tipsets: isWrong ? [] : tipsets })
      },
    }
    const deps = {
      store,
      network: { protocol: { chainFinality: 10_000 } },
      source,
      edge: async (run: () => unknown) => run(),
      bad: new BadBlocks(),
      isValid: () => false,
      report: (_peer: string, what: Misbehaviour) => void reports.push(what),
    }
    const progress = new SyncProgress(0, () => 0)
    const { signal } = new AbortController()
    const options = { target, progress, signal, prefer: 'peer', ignoreCheckpoint: false }
    const keys = await collectHeaders(deps as never, options).catch((error: unknown) => error)
    return { lengths, reports, keys }
  }

  it('are asked for in windows', async () => {
    // Above our head: its parents down to it.
    expect((await collected(fork(0, HEADER_WINDOW + 1))).lengths).toEqual([HEADER_WINDOW])
    expect((await collected(fork(0, HEADER_WINDOW + 2))).lengths).toEqual([HEADER_WINDOW, 1])
  })

  it('of a fork are asked for in windows that grow', async () => {
    expect((await collected(fork(FORK_WINDOW, FORK_WINDOW + 1))).lengths).toEqual([FORK_WINDOW])
    expect((await collected(fork(700, 700))).lengths).toEqual([
      FORK_WINDOW,
      5 * FORK_WINDOW,
      HEADER_WINDOW,
      HEADER_WINDOW,
    ])
  })

  it('that are wrong are asked for again so often', async () => {
    const { lengths, reports, keys } = await collected(fork(0, 10), true)
    expect(keys).toMatchObject({ code: 'HEADERS_INVALID' })
    expect([lengths.length, reports.length]).toEqual([FETCH_ATTEMPTS, FETCH_ATTEMPTS])
  })
})

it('a long way up: messages come in windows, the head moves in steps', async () => {
  const world = createWorld(1)
  const length = Math.max(HEAD_STEP, 2 * MESSAGE_WINDOW) + 1
  const account = world.node.plan.accounts[0] as FundedAccount
  const chain: Tipset[] = []
  for (let i = 0; i < length; i++) {
    const message = signedBy(account, { to: account.address, value: 1n, nonce: BigInt(i) })
    chain.push(await world.tipset(chain.at(-1) ?? world.genesis, { messages: [message] }))
  }
  const source = new RecordedSource(world.view)
  let rounds = 0
  let round: Promise<void> | undefined
  const link = (): Promise<void> => {
    round ??= new Promise((resolve) => {
      setTimeout(() => {
        rounds++
        round = undefined
        resolve()
      }, 1)
    })
    return round
  }
  const follower = createFollower(world, { mode: 'headers', source, link })
  follower.syncer.offerTipset('peer', withMessages(world.view, chain.at(-1) as Tipset))
  await settled(follower.syncer)
  expect(follower.store.head().height).toBe(chain.at(-1)?.height)
  // The target came with its messages.
  const windows = source.requests.filter(({ messages }) => messages).map((request) => request.length)
  expect(windows).toEqual([MESSAGE_WINDOW, length - MESSAGE_WINDOW - 1])
  expect(follower.changes.map(({ applied }) => applied.length)).toEqual([HEAD_STEP, length - HEAD_STEP])
  // State of a window comes in as many rounds as it is deep: one tipset after the other took as many as there are blocks.
  expect(follower.fetched()).toBeGreaterThan(4 * length)
  expect(rounds).toBeLessThan(length)
  await follower.syncer.stop()
}, 60_000)

it('a busy machine is asked again so often, with a pause', async () => {
  for (const [busy, fails] of [
    [BUSY_ATTEMPTS - 1, false],
    [BUSY_ATTEMPTS, true],
  ] as const) {
    const time = new VirtualTime()
    let asked = 0
    const state = { stateRoot: cidOf(1), receiptsRoot: cidOf(2) }
    const tipsetState = (): Promise<unknown> =>
      ++asked <= busy ? Promise.reject(new ChainError('VM_BUSY', 'busy')) : Promise.resolve(state)
    const results = new BaseResults({ tipsetState } as never, time, () => Promise.resolve(0))
    const began = time.nowMs()
    const found = time.until(results.of(apart(0), new AbortController().signal))
    if (fails) await expect(found).rejects.toMatchObject({ code: 'VM_BUSY' })
    else expect(await found).toBe(state)
    expect([asked, time.nowMs() - began]).toEqual([BUSY_ATTEMPTS, (BUSY_ATTEMPTS - 1) * BUSY_PAUSE_MS])
  }
})

it('state that the checks of a block need is sought so long', async () => {
  const time = new VirtualTime()
  const never = (): Promise<never> => new Promise(() => undefined)
  const view = { store: {}, tipsetMessages: () => [] }
  const validator = new TipsetValidator({
    validation: { view } as never,
    vm: undefined,
    edge: never,
    ahead: undefined,
    bad: new BadBlocks(),
    validated: { has: () => false } as never,
    tracker: new TipsetTracker(),
    clock: time,
    timers: time,
  })
  let failure: unknown
  const { signal } = new AbortController()
  const verdict = validator.validateBlocks(apart(0), { signal, goesOn: false })
  verdict.then(
    (found) => {
      failure = found.failure
    },
    (error: unknown) => {
      failure = error
    },
  )
  await time.advance(STATE_MS - 1)
  expect(failure).toBeUndefined()
  await time.advance(1)
  expect(failure).toMatchObject({ code: 'STATE_UNAVAILABLE' })
})

it('epochs around a head whose producer made two blocks', () => {
  const head = createTipset([header(undefined, 100, 1)])
  const searched: number[] = []
  const tracker = { heaviestAt: (epoch: number) => void searched.push(epoch) } as unknown as TipsetTracker
  const view = { store: { head: () => head }, weight: () => 1n }
  new ForkChoice(view as never, tracker, silentLog).refresh(100)
  // The head's own epoch first; as Lotus, one more above than below.
  const around = Array.from({ length: 2 * EQUIVOCATION_SEARCH }, (_, i) => 100 + EQUIVOCATION_SEARCH - i)
  expect(searched).toEqual([100, ...around])
})
