/** Frames are found from their headers alone, within the bounds of RFC 8878. */
import { expect, it } from 'vitest'
import { portableZstd } from '../../src/archive/zstd.ts'
import { zstdFrameAt } from '../../src/archive/zstdFrames.ts'
import { fromHex } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'

const MOST = 128 * 1024

/** A frame of a block that repeats a byte so often. */
function repeating(count: number): Uint8Array {
  const header = count * 8 + 3
  return Uint8Array.of(...fromHex('28b52ffd0058'), header & 255, (header >> 8) & 255, header >> 16, 7)
}

it('a block gives 128 KiB at most, also one that repeats a byte', () => {
  const whole = repeating(MOST)
  expect(zstdFrameAt(memorySource(whole), 0)).toMatchObject({ kind: 'data', length: whole.length })
  expect(portableZstd(whole, undefined)).toEqual(new Uint8Array(MOST).fill(7))
  expect(() => zstdFrameAt(memorySource(repeating(MOST + 1)), 0)).toThrow('block above 128 KiB at byte 6')
})
