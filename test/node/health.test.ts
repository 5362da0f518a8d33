/** Health by the rules of Lotus (epochs behind the clock, a chain that stands still) and Forest (peers, a failed sync). */
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { Health, type HealthDeps } from '../../src/node/health.ts'
import { type ActiveSync, SYNC_STAGE } from '../../src/sync/syncState.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { FailingStore } from '../support/failingStore.ts'

const DELAY = 30

/** A chain of which only the head's epoch and time are known. */
function setting(change: Partial<HealthDeps> = {}) {
  let nowMs = 1_000_000_000
  let height = 100
  let timestamp = nowMs / 1000
  let moved: () => void = () => undefined
  const active: ActiveSync[] = []
  let setMs = 0
  const clock: Clock = { nowMs: () => nowMs + setMs, monotonicMs: () => nowMs }
  const head = (): Tipset => ({ height, blocks: [{ timestamp }] }) as unknown as Tipset
  const onHeadChange = (listener: () => void) => {
    moved = listener
    return () => undefined
  }
  const view = { network: { blockDelaySecs: DELAY }, store: { head, onHeadChange } } as unknown as ChainView
  const sync = () => ({ activeSyncs: active, vmApplied: 0 })
  const meta = new FailingStore()
  const health = new Health({
    view,
    meta,
    clock,
    sync,
    peers: () => 3,
    moves: true,
    byClock: true,
    follows: true,
    ...change,
  })
  return {
    health,
    meta,
    active,
    setClock: (ms: number) => (setMs = ms),
    stand: (at: number) => (height = at),
    wait: (epochs: number) => (nowMs += epochs * DELAY * 1000),
    block: () => {
      height++
      timestamp = nowMs / 1000
      moved()
    },
  }
}

function worker(stage: number, targetHeight: number, height = 0, message = ''): ActiveSync {
  const target = { height: targetHeight } as Tipset
  return { workerId: 1, base: null, target, stage, height, startMs: 0, endMs: undefined, message }
}

const bad = (checks: readonly { ok: boolean; text: string }[]): string[] =>
  checks.filter(({ ok }) => !ok).map(({ text }) => text)

describe('Health', () => {
  it('is not ready while it waits for heads of more peers', () => {
    const { health, active } = setting()
    active.push(worker(SYNC_STAGE.idle, 100, 100, 'waits for heads of 4 peers, has 1'))
    expect(bad(health.ready())).toEqual(['waits for heads of 4 peers, has 1'])
    active[0] = worker(SYNC_STAGE.idle, 100, 100)
    expect(bad(health.ready())).toEqual([])
  })

  it('is ready with a head of at most four epochs ago, and no more with five', () => {
    const { health, wait } = setting()
    expect(bad(health.ready())).toEqual([])
    wait(4)
    expect(bad(health.ready())).toEqual([])
    wait(1)
    expect(bad(health.ready())).toEqual(['head at epoch 100, 5 behind the clock'])
  })

  it('is not ready while the store takes no writes, whatever else is well, and says why', () => {
    for (const change of [{}, { byClock: false }, { moves: false, byClock: false, peers: undefined }]) {
      const { health, meta } = setting(change)
      meta.fault = 'write'
      expect(bad(health.ready())).toEqual(['the disk is full'])
      expect(bad(health.live())).toEqual([])
      meta.fault = 'none'
      expect(bad(health.ready())).toEqual([])
    }
  })

  it('says that the clock was set; behind the head it is not ready, on a local chain that it follows too', () => {
    const hour = 3_600_000
    for (const change of [{}, { byClock: false }]) {
      const { health, setClock } = setting(change)
      setClock(29_000)
      expect(health.clockSetMs()).toBe(0)
      setClock(-hour)
      expect(bad(health.ready())).toEqual([
        'the head is 3600 s ahead of the clock: blocks are refused until it is right; the clock was set back by 3600 s since the start',
      ])
      setClock(hour)
      expect(bad(health.ready())).toEqual(change.byClock === false ? [] : ['head at epoch 100, 120 behind the clock'])
      expect(health.ready().map(({ text }) => text)).toContain('the clock was set forward by 3600 s since the start')
      setClock(0)
      expect(bad(health.ready())).toEqual([])
    }
  })

  it('is not ready where it makes blocks at their timestamps, and the head is before the clock', () => {
    const alone = { byClock: false, follows: false, peers: undefined }
    const { health, setClock } = setting({ ...alone, waitsForClock: true })
    expect(bad(health.ready())).toEqual([])
    setClock(-3_600_000)
    expect(bad(health.ready())).toEqual([
      'the head is 3600 s ahead of the clock: no block is made until it is there; the clock was set back by 3600 s since the start',
    ])
    const ahead = setting(alone)
    ahead.setClock(-3_600_000)
    expect(bad(ahead.health.ready())).toEqual([])
  })

  it('is not ready without a peer', () => {
    expect(bad(setting({ peers: () => 0 }).health.ready())).toEqual(['no peer is connected'])
  })

  it('is not ready while it syncs far, or when the last sync failed', () => {
    const { health, active } = setting()
    active.push(worker(SYNC_STAGE.messages, 150))
    expect(bad(health.ready())).toEqual(['syncing: 50 epochs to go, to 150'])
    active[0] = worker(SYNC_STAGE.messages, 101)
    expect(bad(health.ready())).toEqual([])
    active[0] = worker(SYNC_STAGE.error, 101, 0, 'no peer has it')
    expect(bad(health.ready())).toEqual(['the last sync failed: no peer has it'])
    // One that succeeded before is enough where the clock tells that the head is not far behind.
    active.unshift(worker(SYNC_STAGE.complete, 100))
    expect(bad(health.ready())).toEqual([])
  })

  it('is not ready on a local chain while the last sync to a head further on failed', () => {
    const { health, active, stand } = setting({ byClock: false })
    active.push(worker(SYNC_STAGE.complete, 100), worker(SYNC_STAGE.error, 1100, 0, 'no peer has it'))
    expect(bad(health.ready())).toEqual(['the last sync failed: no peer has it'])
    stand(1100)
    expect(bad(health.ready())).toEqual([])
  })

  it('lives while the head or a sync moves, and not five minutes later', () => {
    const { health, wait, block, active } = setting()
    wait(9)
    expect(bad(health.live())).toEqual([])
    wait(1)
    expect(bad(health.live())).toEqual(['neither the head nor a sync has moved for 300 s'])
    block()
    expect(bad(health.live())).toEqual([])
    wait(20)
    active.push(worker(SYNC_STAGE.messages, 1000, 500))
    expect(bad(health.live())).toEqual([])
    wait(20)
    active[0] = worker(SYNC_STAGE.messages, 1000, 501)
    expect(bad(health.live())).toEqual([])
    wait(20)
    expect(bad(health.live())).toEqual(['neither the head nor a sync has moved for 600 s'])
  })

  it('an archive that nobody is asked about is ready as it is; a local chain keeps no clock', () => {
    const archive = setting({ moves: false, byClock: false, peers: undefined })
    archive.wait(1000)
    expect(archive.health.ready()).toEqual([{ ok: true, text: 'an archive, which stands still at epoch 100' }])
    expect(bad(archive.health.live())).toEqual([])
    const local = setting({ byClock: false, peers: () => 0, follows: false })
    local.wait(1000)
    expect(bad(local.health.ready())).toEqual([])
    expect(bad(local.health.live())).toEqual([])
  })

  it('who follows a local chain needs a peer, and more than the genesis', () => {
    let peers = 0
    const { health, block, stand } = setting({ byClock: false, peers: () => peers })
    stand(0)
    expect(bad(health.ready())).toEqual(['head at epoch 0: no peer has told of its chain yet', 'no peer is connected'])
    // A peer that has not said hello yet is no chain.
    peers = 1
    expect(bad(health.ready())).toEqual(['head at epoch 0: no peer has told of its chain yet'])
    block()
    expect(bad(health.ready())).toEqual([])
    peers = 0
    expect(bad(health.ready())).toEqual(['no peer is connected'])
  })

  it('who comes back to a local chain is not ready before a peer has told of its head, and that is here', () => {
    const told = { peers: 0, awaited: undefined as number | undefined }
    const { health } = setting({ byClock: false, told: () => told })
    expect(bad(health.ready())).toEqual(['head at epoch 100: no peer has told of its chain yet'])
    told.peers = 1
    told.awaited = 1100
    expect(bad(health.ready())).toEqual(['head at epoch 100: a peer tells of one at epoch 1100'])
    // The next block is always on its way to somebody.
    told.awaited = 101
    expect(bad(health.ready())).toEqual([])
    told.awaited = undefined
    expect(bad(health.ready())).toEqual([])
    // Of a chain that keeps the clock the head says it.
    expect(bad(setting({ told: () => ({ peers: 0, awaited: 1100 }) }).health.ready())).toEqual([])
  })
})
