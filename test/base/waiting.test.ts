import { describe, expect, it } from 'vitest'
import type { Timers } from '../../src/base/ports.ts'
import { abortable, letOthers, Serial, sleep, untilAborted, whenAborted, withTimeout } from '../../src/base/waiting.ts'

/** Timers that run when they are told to. */
function handTimers(): Timers & { readonly waiting: Set<() => void>; fire(): void } {
  const waiting = new Set<() => void>()
  return {
    waiting,
    setTimeout: (fn) => {
      waiting.add(fn)
      return () => waiting.delete(fn)
    },
    fire: () => {
      for (const fn of waiting) {
        waiting.delete(fn)
        fn()
      }
    },
  }
}

const never = (): Promise<never> => new Promise(() => undefined)
const gone = new RangeError('gone')

describe('letting others have their turn', () => {
  /** @param tookMs - what others have to do in the first turn */
  const asked = async (tookMs: number): Promise<number[]> => {
    const waits: number[] = []
    let now = 0
    const timers: Timers = {
      setTimeout: (fn, ms) => {
        waits.push(ms)
        now += ms === 0 ? tookMs : ms
        queueMicrotask(fn)
        return () => undefined
      },
    }
    await letOthers({ clock: { nowMs: () => now, monotonicMs: () => now }, timers })
    return waits
  }

  it('waits no longer where nobody had anything to do', async () => {
    expect(await asked(0.1)).toEqual([0])
  })

  it('waits for what follows on what somebody did', async () => {
    expect(await asked(0.2)).toEqual([0, 1])
  })

  it('ends with the reason of its signal', async () => {
    const ended = letOthers(
      { clock: { nowMs: () => 0, monotonicMs: () => 0 }, timers: handTimers() },
      AbortSignal.abort(gone),
    )
    await expect(ended).rejects.toBe(gone)
  })
})

describe('sleep', () => {
  it('resolves with its timer', async () => {
    const timers = handTimers()
    const slept = sleep(timers, 5)
    timers.fire()
    await expect(slept).resolves.toBeUndefined()
  })

  it('ends with the reason of its signal, before or meanwhile, and leaves no timer', async () => {
    const timers = handTimers()
    await expect(sleep(timers, 5, AbortSignal.abort(gone))).rejects.toBe(gone)
    const control = new AbortController()
    const slept = sleep(timers, 5, control.signal)
    expect(timers.waiting.size).toBe(1)
    control.abort(gone)
    await expect(slept).rejects.toBe(gone)
    expect(timers.waiting.size).toBe(0)
  })
})

describe('whenAborted', () => {
  it('runs once, when the signal fires or at once, and not after its end', async () => {
    const control = new AbortController()
    const heard: string[] = []
    whenAborted(control.signal, () => heard.push('first'))
    const stop = whenAborted(control.signal, () => heard.push('stopped'))
    whenAborted(undefined, () => heard.push('no signal'))
    const until = untilAborted(control.signal)
    stop()
    expect(heard).toEqual([])
    control.abort()
    await until
    whenAborted(control.signal, () => heard.push('late'))
    expect(heard).toEqual(['first', 'late'])
  })
})

describe('abortable', () => {
  it('gives the result, the failure, or the reason of the signal', async () => {
    const control = new AbortController()
    await expect(abortable(Promise.resolve(7), control.signal)).resolves.toBe(7)
    await expect(abortable(Promise.reject(gone), control.signal)).rejects.toBe(gone)
    const waited = abortable(never(), control.signal)
    control.abort(gone)
    await expect(waited).rejects.toBe(gone)
    await expect(abortable(Promise.reject(new TypeError('unheard')), control.signal)).rejects.toBe(gone)
  })
})

describe('withTimeout', () => {
  it('is late by its timer alone, and tells the work', async () => {
    const timers = handTimers()
    let told: AbortSignal | undefined
    const work = withTimeout(
      timers,
      5,
      () => gone,
      (signal) => {
        told = signal
        return never()
      },
    )
    timers.fire()
    await expect(work).rejects.toBe(gone)
    expect(told?.aborted).toBe(true)
  })

  it('gives the result and leaves no timer; ends with the outer signal', async () => {
    const timers = handTimers()
    await expect(
      withTimeout(
        timers,
        5,
        () => gone,
        () => Promise.resolve(1),
      ),
    ).resolves.toBe(1)
    expect(timers.waiting.size).toBe(0)
    const outer = new AbortController()
    const work = withTimeout(timers, 5, () => new TypeError('late'), never, outer.signal)
    outer.abort(gone)
    await expect(work).rejects.toBe(gone)
  })
})

describe('Serial', () => {
  it('runs one after the other, also after a failure', async () => {
    const serial = new Serial()
    const order: string[] = []
    const first = Promise.withResolvers<void>()
    const a = serial.run(async () => {
      order.push('a begins')
      await first.promise
      order.push('a ends')
      throw gone
    })
    const b = serial.run(() => {
      order.push('b')
      return Promise.resolve('b')
    })
    first.resolve()
    await expect(a).rejects.toBe(gone)
    await expect(b).resolves.toBe('b')
    await serial.idle()
    expect(order).toEqual(['a begins', 'a ends', 'b'])
  })
})
