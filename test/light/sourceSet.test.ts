/** What is known of sources that come and go. */
import { expect, test } from 'vitest'
import type { LightSource } from '../../src/light/lightSource.ts'
import { SourceSet } from '../../src/light/sourceSet.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const peer = (name: string): LightSource => ({ name, kind: 'peer', bytesReceived: 0 })

/** A set of one endpoint, and the peers that there are. */
function setOf(): { set: SourceSet; time: VirtualTime; there: LightSource[] } {
  const time = new VirtualTime()
  const there: LightSource[] = []
  const endpoint: LightSource = { name: 'endpoint', kind: 'rpc', bytesReceived: 0 }
  const set = new SourceSet({ sources: () => [endpoint, ...there], clock: time, timers: time, log: silentLog })
  return { set, time, there }
}

const statesOf = (set: SourceSet): string[] => set.states().map(({ name, state }) => `${name} ${state}`)

test('peers that came and went are forgotten, neither kept nor told', () => {
  const { set, there } = setOf()
  for (let i = 0; i < 1000; i++) {
    there.splice(0, 1, peer(`peer ${i}`))
    set.inOrder()
  }
  expect(statesOf(set)).toEqual(['endpoint usable', 'peer 999 usable'])
  there.length = 0
  expect(statesOf(set)).toEqual(['endpoint usable'])
})

test('who lied is remembered when it comes again', () => {
  const { set, there } = setOf()
  const liar = peer('liar')
  there.push(liar)
  set.drop(liar, 'a false block')
  there.length = 0
  expect(statesOf(set)).toEqual(['liar dropped', 'endpoint usable'])
  there.push(liar)
  expect(set.inOrder().map(({ name }) => name)).toEqual(['endpoint'])
})

test('who rests does so through leaving and coming again, and is forgotten after that', async () => {
  const { set, time, there } = setOf()
  const slow = peer('slow')
  there.push(slow)
  for (let i = 0; i < 3; i++) set.blame(slow, 'no answer in time')
  there.length = 0
  set.inOrder()
  there.push(slow)
  expect(set.inOrder().map(({ name }) => name)).toEqual(['endpoint', 'slow'])
  there.length = 0
  await time.advance(5000)
  expect(statesOf(set)).toEqual(['endpoint usable'])
})
