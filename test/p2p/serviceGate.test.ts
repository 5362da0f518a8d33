/** Turns, and who gives his up. */
import { expect, it } from 'vitest'
import { type MakingTurn, ServiceGate } from '../../src/p2p/serviceGate.ts'

it('the oldest turn of the peer that has most is given to who comes', async () => {
  const gate = new ServiceGate({ running: 4, perPeer: 3, waiting: 0 })
  const gone: string[] = []
  const enter = async (peer: string, name: string): Promise<(() => void) | undefined> =>
    await gate.enter(peer, () => gone.push(name))
  const first = await enter('one', 'one 1')
  await enter('many', 'many 1')
  await enter('many', 'many 2')
  await enter('many', 'many 3')
  expect(await enter('other', 'other 1')).toBeDefined()
  expect(gone).toEqual(['many 1'])
  // Whose turn was taken gives it back only once.
  expect(gate.size).toBe(4)
  first?.()
  first?.()
  expect(gate.size).toBe(3)
})

it('nobody with as much gives way, and who has no share of its own is told apart from who has', async () => {
  const gate = new ServiceGate({ running: 4, perPeer: 3, waiting: 0 })
  const enter = async (peer: string): Promise<boolean> => (await gate.enter(peer, () => undefined)) !== undefined
  for (const peer of ['a', 'a', 'b', 'b']) expect(await enter(peer)).toBe(true)
  expect([await enter('a'), gate.hasShare('a')]).toEqual([false, false])
  const stays = new ServiceGate({ running: 2, perPeer: 2, waiting: 0 })
  for (const peer of ['a', 'a']) await stays.enter(peer)
  expect([await stays.enter('b'), stays.hasShare('a'), stays.hasShare('b')]).toEqual([undefined, true, false])
})

it('a turn that is given up goes to the next in line', async () => {
  const gate = new ServiceGate({ running: 2, perPeer: 2, waiting: 2 })
  const gone: string[] = []
  await gate.enter('many', () => gone.push('many'))
  await gate.enter('many', () => gone.push('many'))
  const waits = gate.enter('other')
  expect([gate.makeRoom('many'), gate.makeRoom('other')]).toEqual([false, true])
  expect(await waits).toBeDefined()
  expect([gone, gate.size]).toEqual([['many'], 2])
})

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

it('what is made and being sent keeps no place, but its peer’s share', async () => {
  const gate = new ServiceGate({ running: 1, perPeer: 3, runningPerPeer: 2, waiting: 2 })
  const first = await gate.enterToMake('a')
  const begun: string[] = []
  const enter = (peer: string): Promise<MakingTurn | undefined> =>
    gate.enterToMake(peer).then((turn) => {
      begun.push(turn === undefined ? `${peer} turned away` : peer)
      return turn
    })
  const [second, other] = [enter('a'), enter('b')]
  await settle()
  expect([begun, gate.othersWait('a'), gate.othersWait('b')]).toEqual([[], true, true])
  first?.made()
  await settle()
  // Who has none under way is next, though it came later.
  expect([begun, gate.othersWait('a'), gate.othersWait('b')]).toEqual([['b'], false, true])
  ;(await other)?.made()
  ;(await second)?.made()
  await settle()
  void enter('a')
  await settle()
  // Two of its answers are on their way.
  expect([begun, gate.hasShare('a'), gate.othersWait('b')]).toEqual([['b', 'a'], true, false])
  first?.leave()
  first?.leave()
  await settle()
  expect([begun, gate.size]).toEqual([['b', 'a', 'a'], 3])
})

it('when too many wait, the last of the peer that has most goes for one who has fewer', async () => {
  const gate = new ServiceGate({ running: 1, perPeer: 4, waiting: 3 })
  await gate.enterToMake('a')
  const told: string[] = []
  const enter = (name: string): void =>
    void gate.enterToMake(name[0] as string).then((turn) => told.push(`${name} ${turn === undefined ? 'away' : 'in'}`))
  for (const name of ['a1', 'a2', 'b1', 'b2']) enter(name)
  await settle()
  // Two of each would wait: nobody has more than the one who comes.
  expect(told).toEqual(['b2 away'])
  enter('c1')
  await settle()
  expect(told).toEqual(['b2 away', 'a2 away'])
  expect(gate.hasShare('a')).toBe(false)
})

it('one peer runs so many; its others wait, and keep nobody else waiting', async () => {
  const gate = new ServiceGate({ running: 3, perPeer: 4, runningPerPeer: 2, waiting: 3 })
  const leave = [await gate.enter('many'), await gate.enter('many')]
  const begun: string[] = []
  const enter = (peer: string): void => void gate.enter(peer).then((left) => begun.push(left === undefined ? '' : peer))
  for (const peer of ['many', 'many', 'many', 'other', 'other']) enter(peer)
  await settle()
  // Its fifth is one too many; the other's second waits, for all the places are taken.
  expect([begun, gate.size]).toEqual([['', 'other'], 6])
  leave[0]?.()
  await settle()
  expect(begun).toEqual(['', 'other', 'many'])
})

it('of those who wait the peer goes first that has fewest turns, then the one that had none for longest', async () => {
  const gate = new ServiceGate({ running: 2, perPeer: 8, waiting: 20 })
  const leaves: (() => void)[] = []
  const begun: string[] = []
  const enter = (peer: string): void =>
    void gate.enter(peer).then((leave) => {
      begun.push(peer)
      leaves.push(leave as () => void)
    })
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) await Promise.resolve()
  }
  for (const peer of ['a', 'a', 'a', 'a', 'b', 'b', 'c']) enter(peer)
  await settle()
  expect(begun.splice(0)).toEqual(['a', 'a'])
  for (let i = 0; i < 5; i++) {
    leaves.shift()?.()
    await settle()
  }
  // b had none, c had none, a had its last before b.
  expect(begun).toEqual(['b', 'c', 'a', 'b', 'a'])
})
