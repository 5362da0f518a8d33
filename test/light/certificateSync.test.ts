/** Whom certificates are asked for, and what an answer counts. */
import { expect, test } from 'vitest'
import type { FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import type { F3 } from '../../src/consensus/f3/f3.ts'
import { CertificateSync } from '../../src/light/certificateSync.ts'
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
  const syncOf = (f3: F3): (() => Promise<number>) => {
    const sync = new CertificateSync({ f3, checkpoint: CHECKPOINT, sources: set, timers: time })
    return () => sync.round(new AbortController().signal)
  }
  return { set, time, syncOf, sync: (f3: F3) => syncOf(f3)() }
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
  const { set, time, syncOf } = setOf(
    source,
    upTo('honest', () => newest),
  )
  const f3 = f3Of(0)
  const sync = syncOf(f3)
  expect(await time.until(sync())).toBe(3)
  // While it may answer still it is not asked again.
  newest = 4
  expect(await time.until(sync())).toBe(1)
  expect(seen.asked).toBe(1)
  await time.advance(SOURCE_ANSWER_MS - SILENT_MS)
  expect(set.states()[0]).toMatchObject({ state: 'usable', reason: 'no answer in time' })
  for (let i = 1; i < FAILURES_TO_REST; i++) {
    await time.until(sync())
    await time.advance(SOURCE_ANSWER_MS)
  }
  expect(set.states()[0]).toMatchObject({ name: 'silent', state: 'resting' })
  newest = 5
  const since = time.monotonicMs()
  expect(await time.until(sync())).toBe(1)
  expect(time.monotonicMs()).toBe(since)
})

test('among strangers that say nothing the honest one is found, and then asked first', async () => {
  let newest = 3
  const strangers = Array.from({ length: 60 }, (_, i) => {
    const { seen, source } = silentSource()
    return { seen, source: { ...source, kind: 'peer' as const, name: `stranger ${i}` } }
  })
  const honest = upTo('honest', () => newest)
  const { time, syncOf } = setOf(...strangers.map(({ source }) => source), honest)
  const f3 = f3Of(0)
  const sync = syncOf(f3)
  const asked = (): number => strangers.reduce((sum, { seen }) => sum + seen.asked, 0)
  const began = time.monotonicMs()
  expect(await time.until(sync())).toBe(3)
  expect(time.monotonicMs() - began).toBeLessThanOrEqual(5 * SILENT_MS)
  expect(asked()).toBe(strangers.length)
  await time.advance(SOURCE_ANSWER_MS)
  // No longer than it takes to ask the one; of the others so many beside it.
  for (let round = 1; round <= 3; round++) {
    newest++
    const since = time.monotonicMs()
    expect(await time.until(sync())).toBe(1)
    expect(time.monotonicMs()).toBe(since)
    expect(asked()).toBe(strangers.length + 4 * round)
  }
})

test('strangers that have no certificate yet are not who is asked from then on, and the first one is found behind them', async () => {
  let newest = 3
  const strangers = Array.from({ length: 40 }, (_, i) => ({
    ...upTo(`stranger ${i}`, () => -1),
    kind: 'peer' as const,
  }))
  const { time, syncOf } = setOf(
    ...strangers,
    upTo('honest', () => newest),
  )
  const f3 = f3Of(-1)
  const sync = syncOf(f3)
  // In one round: an answer that there is none yet is no reason to stop asking.
  expect(await time.until(sync())).toBe(4)
  newest = 4
  expect(await time.until(sync())).toBe(1)
  expect(f3.latest()?.instance).toBe(4)
})

test('a stranger that shows a fork is heard, though nobody waits for it', async () => {
  const forked = certificate(7)
  const fork: LightSource = { ...upTo('fork', () => 7), certificates: () => Promise.resolve([forked]) }
  const sources = [upTo('honest', () => 7)]
  const time = new VirtualTime()
  const set = new SourceSet({ sources: () => sources, clock: time, timers: time, log: silentLog })
  const sync = new CertificateSync({ f3: f3Of(7, forked), checkpoint: CHECKPOINT, sources: set, timers: time })
  const { signal } = new AbortController()
  expect(await time.until(sync.round(signal))).toBe(0)
  sources.push(fork)
  await time.until(sync.round(signal).catch(() => undefined))
  await expect(time.until(sync.round(signal))).rejects.toMatchObject({ code: 'FORK' })
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
