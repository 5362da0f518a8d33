/** What clocks, timers, sources of randomness and zstd decoders must do. */
import { describe, expect, it } from 'vitest'
import { MAX_FRAME_BYTES } from '../../src/archive/limits.ts'
import type { ZstdDecoder } from '../../src/archive/zstd.ts'
import { fromHex, fromUtf8, toHex, utf8 } from '../../src/base/bytes.ts'
import type { Clock, Random, Timers } from '../../src/base/ports.ts'

/** Declares the suite. */
export function timeContract(name: string, clock: Clock, timers: Timers): void {
  describe(`time: ${name}`, () => {
    it('counts milliseconds since 1970', () => {
      expect(clock.nowMs()).toBeGreaterThan(Date.UTC(2025, 0))
      expect(clock.nowMs()).toBeLessThan(Date.UTC(2100, 0))
    })

    it('never goes back', () => {
      let last = clock.monotonicMs()
      for (let i = 0; i < 1000; i++) {
        const now = clock.monotonicMs()
        expect(now).toBeGreaterThanOrEqual(last)
        last = now
      }
    })

    it('runs in order of time, and not what was cancelled', async () => {
      const seen: string[] = []
      await new Promise<void>((resolve) => {
        timers.setTimeout(() => {
          seen.push('late')
          resolve()
        }, 40)
        timers.setTimeout(() => seen.push('early'), 5)
        timers.setTimeout(() => seen.push('never'), 10)()
        // The port's own timers keep no process alive.
        setTimeout(() => undefined, 200)
      })
      expect(seen).toEqual(['early', 'late'])
    })

    it('with 0 runs in order, after this turn, and not what was cancelled', async () => {
      const seen: string[] = []
      await new Promise<void>((resolve) => {
        timers.setTimeout(() => seen.push('first'), 0)
        timers.setTimeout(() => seen.push('never'), 0)()
        timers.setTimeout(() => {
          seen.push('last')
          resolve()
        }, 0)
        void Promise.resolve().then(() => seen.push('this turn'))
      })
      expect(seen).toEqual(['this turn', 'first', 'last'])
    })

    it('cancelling after the run is harmless', async () => {
      const cancel = await new Promise<() => void>((resolve) => {
        const cancelIt = timers.setTimeout(() => resolve(cancelIt), 1)
        setTimeout(() => undefined, 100)
      })
      cancel()
    })
  })
}

/** Declares the suite. */
export function randomContract(name: string, random: Random): void {
  describe(`randomness: ${name}`, () => {
    it('fills all of the array, also a large one and a part of one', () => {
      const large = new Uint8Array(200_000)
      random.fill(large)
      // 32 zero bytes in a row by chance: once in 2^256.
      for (let i = 0; i + 32 <= large.length; i += 32)
        expect(large.subarray(i, i + 32).some((byte) => byte !== 0)).toBe(true)
      const part = new Uint8Array(96)
      random.fill(part.subarray(32, 64))
      expect([...part.subarray(0, 32), ...part.subarray(64)].every((byte) => byte === 0)).toBe(true)
      expect(part.subarray(32, 64).some((byte) => byte !== 0)).toBe(true)
      random.fill(new Uint8Array(0))
    })

    it('is never the same', () => {
      const seen = new Set<string>()
      for (let i = 0; i < 100; i++) {
        const out = new Uint8Array(16)
        random.fill(out)
        seen.add(toHex(out))
      }
      expect(seen.size).toBe(100)
    })
  })
}

/** The text `petrel ` 40 times, and `fil`, by the zstd program, version 1.5.4, the first one with a checksum. */
const REPEATED = '28b52ffd6418007500003870657472656c2001000e528b118c98798a'
const RAW = '28b52ffd200319000066696c'

/** Declares the suite. */
export function zstdContract(name: string, decode: ZstdDecoder): void {
  describe(`zstd: ${name}`, () => {
    it('reads a frame of an empty text', () => {
      expect(decode(fromHex('28b52ffd2000010000'), 0)).toHaveLength(0)
    })

    it('reads compressed and raw blocks', () => {
      expect(fromUtf8(decode(fromHex(REPEATED), 280))).toBe('petrel '.repeat(40))
      expect(fromUtf8(decode(fromHex(REPEATED), undefined))).toBe('petrel '.repeat(40))
      expect(fromUtf8(decode(fromHex(RAW), 3))).toBe('fil')
    })

    it('keeps little more memory than what is in the frames that say their size', () => {
      // RFC 8878, 3.1.1: 20,000 bytes in a block that repeats one.
      const frames = Array.from({ length: 100 }, () => decode(fromHex('28b52ffd60204d03710200'), 20_000))
      const buffers = new Set(frames.map(({ buffer }) => buffer))
      const held = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
      expect(held).toBeLessThan(1.25 * 100 * 20_000)
    })

    it('gives no more than is wanted, whether a frame says its size or not', () => {
      // RFC 8878, 3.1.1: 20,000 bytes, and twice as many in a frame that does not say so.
      const said = fromHex('28b52ffd60204d03710200')
      const unsaid = fromHex('28b52ffd0058 02710200 03710200'.replaceAll(' ', ''))
      expect(decode(said, 20_000, 20_000)).toHaveLength(20_000)
      expect(decode(unsaid, undefined, 40_000)).toHaveLength(40_000)
      expect(() => decode(said, 20_000, 19_999)).toThrow('a frame of more than 19999 bytes')
      expect(() => decode(unsaid, undefined, 39_999)).toThrow('a frame of more than 39999 bytes')
    })

    it('gives no more than a frame may have where nobody says how much is wanted', () => {
      const decoded = (size: number): unknown => {
        try {
          return decode(fromHex(RAW), size)
        } catch (error) {
          return error
        }
      }
      // It has less: a decoder may say that, or give it.
      expect(decoded(MAX_FRAME_BYTES)).not.toMatchObject({ code: 'TOO_LARGE' })
      expect(decoded(MAX_FRAME_BYTES + 1)).toMatchObject({ code: 'TOO_LARGE' })
    })

    it('refuses what is no frame', () => {
      expect(() => decode(fromHex(REPEATED.slice(0, 40)), 280)).toThrow('Cannot decompress zstd')
      expect(() => decode(utf8('not zstd at all'), undefined)).toThrow('Cannot decompress zstd')
    })
  })
}
