/**
 * The page never calls a value proven that is not: what it says of wrong blocks, forged headers, stale heads and withheld
 * blocks. That the node in the tab does not validate such a chain is tested with that node.
 */
import { describe, expect, it } from 'vitest'
import { SHOWN_EPOCHS } from '../../../examples/monitor/model/chainFollower.ts'
import type { Trust } from '../../../examples/monitor/model/evidence.ts'
import { Monitor } from '../../../examples/monitor/model/monitor.ts'
import { noticeOf } from '../../../examples/monitor/model/notice.ts'
import { type Tipset, type TipsetKey, tipsetKeyText } from '../../../src/types/tipset.ts'
import { BLOCK_DELAY, chain, FakeNode, GENESIS_SEC } from './fakeNode.ts'

const WHO = 'f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za'
const HEIGHTS = [0, 1, 2, 4, 5, 6, 7, 8]

interface World {
  readonly fake: FakeNode
  readonly monitor: Monitor
  readonly tipsets: Tipset[]
  settle(): Promise<void>
  /** Moves this machine's clock. */
  setEpoch(epoch: number): void
}

async function open(
  kind: Trust['kind'],
  validate: (key: TipsetKey) => boolean = () => true,
  presumed = '',
): Promise<World> {
  const fake = new FakeNode()
  fake.presumed = presumed
  const tipsets = chain(HEIGHTS)
  let nowMs = (GENESIS_SEC + 8 * BLOCK_DELAY) * 1000
  const stored = new Map<string, string>()
  const monitor = new Monitor({
    connect: () => Promise.resolve({ node: fake.node, trust: { kind, isValidated: validate }, close: () => undefined }),
    storage: { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => void stored.set(key, value) },
    nowMs: () => nowMs,
    setTimer: () => () => undefined,
    changed: () => undefined,
  })
  fake.know(tipsets)
  fake.announce(tipsets.at(-1) as Tipset)
  monitor.watch(WHO, '')
  monitor.start()
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 200; i++) await Promise.resolve()
    await new Promise((resolve) => setTimeout(resolve, 0))
    for (let i = 0; i < 200; i++) await Promise.resolve()
  }
  await settle()
  return {
    fake,
    monitor,
    tipsets,
    settle,
    setEpoch: (epoch) => {
      nowMs = (GENESIS_SEC + epoch * BLOCK_DELAY) * 1000
    },
  }
}

const sources = ({ monitor }: World): string[] => [
  monitor.headSource,
  ...(monitor.window?.epochs(SHOWN_EPOCHS) ?? []).flatMap(({ tipset }) =>
    tipset === undefined ? [] : [monitor.sourceOf(tipset.key)],
  ),
  ...monitor.watchRows.map(({ source }) => source),
]

describe('what the node takes for granted', () => {
  it('is said of storage proofs', async () => {
    const world = await open('server', () => true, 'presumed, not verified, for lack of keys: winning PoSt')
    expect(world.monitor.info?.presumed).toBe('presumed, not verified, for lack of keys: winning PoSt')
  })
})

describe('where values come from', () => {
  it('is the server for everything that a server says', async () => {
    const world = await open('server')
    expect(world.monitor.head?.height).toBe(8)
    expect(world.monitor.watchRows[0]?.balance).toBe(5n)
    expect(new Set(sources(world))).toEqual(new Set(['server']))
  })

  it('is the tab for what its node validated, with all that is below it by hash', async () => {
    const world = await open('tab')
    expect(new Set(sources(world))).toEqual(new Set(['proven']))
    expect(world.monitor.wordSource).toBe('peer')
  })

  it('is a peer for a forged head that the tab has not validated', async () => {
    let forgedKey = ''
    const world = await open('tab', (key) => tipsetKeyText(key) !== forgedKey)
    expect(world.monitor.headSource).toBe('proven')
    const [forged] = chain([9], world.tipsets.at(-1), 66)
    forgedKey = tipsetKeyText((forged as Tipset).key)
    world.fake.grow([forged as Tipset])
    await world.settle()
    expect(world.monitor.head?.height).toBe(9)
    expect(world.monitor.headSource).toBe('peer')
    expect(world.monitor.sourceOf((forged as Tipset).key)).toBe('peer')
    expect(world.monitor.watchRows[0]?.source, 'state is read under the forged head').toBe('peer')
    expect(world.monitor.sourceOf((world.tipsets.at(-1) as Tipset).key), 'what was proven stays so').toBe('proven')
  })

  it('is never the tab when the question whether a head is valid fails', async () => {
    const world = await open('tab', () => {
      throw new Error('the worker is gone')
    })
    expect(new Set(sources(world))).toEqual(new Set(['peer']))
  })
})

describe('a lying node', () => {
  it('that gives a wrong block for a CID is caught, and nothing of it is shown', async () => {
    const world = await open('server')
    const wrong = chain([0, 1, 2, 4, 5, 6, 7, 8, 9], undefined, 13)
    const fresh = chain([9, 10], world.tipsets.at(-1))
    world.fake.know(fresh)
    world.fake.lies.set(tipsetKeyText((fresh[0] as Tipset).key), wrong.at(-1) as Tipset)
    world.fake.announce(fresh[1] as Tipset)
    await world.settle()
    expect(world.monitor.fault?.kind).toBe('contradiction')
    expect(noticeOf(world.monitor)?.kind).toBe('fault')
    expect(world.monitor.head?.height, 'the window stays where it was').toBe(8)
    const shown = world.monitor.window?.tipsets.map(({ key }) => tipsetKeyText(key)) ?? []
    expect(wrong.some(({ key }) => shown.includes(tipsetKeyText(key)))).toBe(false)
  })

  it('whose chain goes backwards is caught', async () => {
    const world = await open('server')
    const [high] = chain([20], world.tipsets.at(-1))
    const [low] = chain([15], high)
    world.fake.know([high as Tipset])
    world.fake.announce(low as Tipset)
    await world.settle()
    expect(world.monitor.fault?.kind).toBe('contradiction')
  })

  it('that tells of a head and withholds its chain is not followed', async () => {
    const world = await open('server')
    const fresh = chain([9, 10, 11], world.tipsets.at(-1))
    world.fake.announce(fresh[2] as Tipset)
    await world.settle()
    expect(world.monitor.fault?.kind).toBe('withheld')
    expect(world.monitor.head?.height).toBe(8)
    world.fake.know(fresh)
    world.fake.announce(fresh[2] as Tipset)
    await world.settle()
    expect(world.monitor.fault).toBeUndefined()
    expect(world.monitor.head?.height).toBe(11)
  })

  it('that withholds the messages of a tipset shows as such', async () => {
    const world = await open('server')
    const fresh = chain([9], world.tipsets.at(-1))
    world.fake.withheld.add(tipsetKeyText((fresh[0] as Tipset).key))
    world.fake.grow(fresh)
    await world.settle()
    expect(world.monitor.contentsOf((fresh[0] as Tipset).key)).toEqual({ at: 'withheld' })
  })

  it('with a stale head is called stale, proven or not', async () => {
    const world = await open('tab')
    expect(noticeOf(world.monitor)).toBeUndefined()
    world.setEpoch(11)
    expect(noticeOf(world.monitor)).toBeUndefined()
    world.setEpoch(12)
    expect(noticeOf(world.monitor)).toMatchObject({ kind: 'stale' })
    expect(noticeOf(world.monitor)?.text).toContain('4 epochs')
  })

  it('with a head of the future is told of', async () => {
    const world = await open('server')
    world.setEpoch(2)
    expect(noticeOf(world.monitor)).toMatchObject({ kind: 'ahead' })
  })

  it('that goes away is told of, and what is shown is said to be old', async () => {
    const world = await open('server')
    world.fake.cut()
    await world.settle()
    expect(world.monitor.link.at).toBe('offline')
    expect(noticeOf(world.monitor)?.text).toContain('from before')
  })
})
