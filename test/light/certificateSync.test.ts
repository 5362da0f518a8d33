/** Whom certificates are asked for, and what an answer counts. */
import { expect, test } from 'vitest'
import type { FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import type { F3 } from '../../src/consensus/f3/f3.ts'
import { syncCertificates } from '../../src/light/certificateSync.ts'
import type { LightSource } from '../../src/light/lightSource.ts'
import { FAILURES_TO_REST, SILENT_MS, SOURCE_ANSWER_MS } from '../../src/light/limits.ts'
import { SourceSet } from '../../src/light/sourceSet.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { CHECKPOINT } from './world.ts'

const certificate = (instance: number): FinalityCertificate => ({ instance }) as FinalityCertificate

/** Verified up to `newest`, which believes everybody but who has the certificate in `forked`. */
function f3Of(newest: number, forked?: FinalityCertificate) {
  let latest = newest
  return {
    needsCheckpoint: false,
    isRunning: true,
    latest: () => (latest < 0 ? undefined : certificate(latest)),
    pendingInstance: () => latest + 1,
    isFork: (one: FinalityCertificate) => one === forked,
    importCertificates: (all: readonly FinalityCertificate[]) => {
      const before = latest
      for (const { instance } of all) if (instance === latest + 1) latest = instance
      return latest - before
    },
  } as unknown as F3
}

/** Has certificates up to one. */
const upTo = (name: string, newest: () => number): LightSource => ({
  ...{ name, kind: 'peer', bytesReceived: 0 },
  certificates: (first, limit) =>
    Promise.resolve(
      Array.from({ length: Math.max(0, Math.min(limit, newest() - first + 1)) }, (_, i) => certificate(first + i)),
    ),
})

function setOf(...sources: LightSource[]) {
  const time = new VirtualTime()
  const set = new SourceSet({ sources: () => sources, clock: time, timers: time, log: silentLog })
  const sync = (f3: F3): Promise<number> =>
    syncCertificates({ f3, checkpoint: CHECKPOINT, sources: set, timers: time }, new AbortController().signal)
  return { set, time, sync }
}

/** Does not even hear the signal. */
function silentSource() {
  const seen = { asked: 0 }
  const source: LightSource = {
    ...{ name: 'silent', kind: 'rpc', bytesReceived: 0 },
    certificates: () => {
      seen.asked++
      return new Promise(() => undefined)
    },
  }
  return { seen, source }
}

test('a source that never answers keeps nobody from finality, and rests', async () => {
  let newest = 3
  const { seen, source } = silentSource()
  const { set, time, sync } = setOf(
    source,
    upTo('honest', () => newest),
  )
  const f3 = f3Of(0)
  const round = sync(f3)
  await time.advance(SILENT_MS)
  expect(f3.latest()?.instance).toBe(3)
  await time.advance(SOURCE_ANSWER_MS - SILENT_MS)
  expect(await time.until(round)).toBe(3)
  expect(set.states()[0]).toMatchObject({ state: 'usable', reason: 'no answer in time' })
  for (let i = 1; i < FAILURES_TO_REST; i++) await time.until(sync(f3))
  expect(set.states()[0]).toMatchObject({ name: 'silent', state: 'resting' })
  newest = 5
  expect(await time.until(sync(f3))).toBe(2)
  expect(seen.asked).toBe(FAILURES_TO_REST)
})

test('when nobody but silent sources is left, a round ends all the same', async () => {
  const { time, sync } = setOf(silentSource().source)
  await expect(time.until(sync(f3Of(0)))).rejects.toMatchObject({ code: 'NO_ANSWER', message: /no answer in time/ })
})

test('a source that is behind confirms nothing, and is not blamed', async () => {
  for (const newest of [20, -1]) {
    const { set, time, sync } = setOf(upTo('behind', () => newest))
    const round = time.until(sync(f3Of(60)))
    await expect(round).rejects.toMatchObject({ code: 'NO_ANSWER', message: /does not have the certificate of .* 60/ })
    expect(set.states()).toMatchObject([{ state: 'usable', reason: '' }])
  }
})

test('a source that has the newest certificate confirms it, and so does any where there is none yet', async () => {
  const confirming = setOf(upTo('same', () => 60))
  expect(await confirming.time.until(confirming.sync(f3Of(60)))).toBe(0)
  const early = setOf(upTo('early', () => -1))
  expect(await early.time.until(early.sync(f3Of(-1)))).toBe(0)
})

test('a fork that one source shows ends the round, whoever is silent', async () => {
  const forked = certificate(7)
  const { source } = silentSource()
  const fork: LightSource = { ...upTo('fork', () => 7), certificates: () => Promise.resolve([forked]) }
  const { time, sync } = setOf(source, fork)
  await expect(time.until(sync(f3Of(7, forked)))).rejects.toMatchObject({ code: 'FORK' })
})
