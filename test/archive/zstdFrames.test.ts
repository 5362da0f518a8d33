/** Frames are found from their headers alone, within the bounds of RFC 8878. */
import { expect, it } from 'vitest'
import { MAX_BLOCK_BYTES, MAX_FRAME_BYTES, MAX_WINDOW_BYTES } from '../../src/archive/limits.ts'
import { portableZstd, streamZstd } from '../../src/archive/zstd.ts'
import { zstdFrameAt, zstdFrameHead } from '../../src/archive/zstdFrames.ts'
import { concatBytes, fromHex } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'

/** A frame of a block that repeats a byte so often. */
function repeating(count: number, head: Uint8Array = fromHex('28b52ffd0058')): Uint8Array {
  const header = count * 8 + 3
  return concatBytes(head, Uint8Array.of(header & 255, (header >> 8) & 255, header >> 16, 7))
}

it('a block gives 128 KiB at most, also one that repeats a byte', () => {
  const whole = repeating(MAX_BLOCK_BYTES)
  expect(zstdFrameAt(memorySource(whole), 0)).toMatchObject({ kind: 'data', length: whole.length })
  expect(portableZstd(whole, undefined)).toEqual(new Uint8Array(MAX_BLOCK_BYTES).fill(7))
  expect(() => zstdFrameAt(memorySource(repeating(MAX_BLOCK_BYTES + 1)), 0)).toThrow('block above 128 KiB at byte 6')
})

it('a window of 128 MiB is the largest: the next that a header can name is refused', () => {
  // Five bits of exponent, above 2^10, and three of eighths. @see RFC 8878, 3.1.1.1.2
  const largest = (Math.log2(MAX_WINDOW_BYTES) - 10) << 3
  const headOf = (window: number) =>
    zstdFrameHead(memorySource(repeating(3, Uint8Array.of(...fromHex('28b52ffd00'), window))), 0)
  expect(headOf(largest)).toMatchObject({ kind: 'data', headBytes: 6 })
  expect(() => headOf(largest + 1)).toThrow('window above 128 MiB at byte 0')
})

it('a frame that says that it is more than a frame may be is not decompressed', () => {
  const saying = (bytes: number): Uint8Array => {
    const head = fromHex('28b52ffde00000000000000000')
    new DataView(head.buffer).setBigUint64(5, BigInt(bytes), true)
    return repeating(3, head)
  }
  const most = zstdFrameHead(memorySource(saying(MAX_FRAME_BYTES)), 0).contentSize
  expect(most).toBe(MAX_FRAME_BYTES)
  // Room for as much as the frame itself says would be taken: what is read here does not say.
  expect(portableZstd(repeating(3), most)).toEqual(Uint8Array.of(7, 7, 7))
  const longer = saying(MAX_FRAME_BYTES + 1)
  expect(() => portableZstd(longer, zstdFrameHead(memorySource(longer), 0).contentSize)).toThrow(
    `a frame of more than ${MAX_FRAME_BYTES} bytes`,
  )
})

it('how much all frames may be is for who takes it to say: what that throws ends the reading, and stays what it is', () => {
  const frame = repeating(MAX_BLOCK_BYTES)
  const full = new Error('the disk is full')
  let taken = 0
  const take = (piece: Uint8Array): void => {
    if (taken + piece.length > 2 * MAX_BLOCK_BYTES) throw full
    taken += piece.length
  }
  streamZstd(memorySource(concatBytes(frame, frame)), take)
  expect(taken).toBe(2 * MAX_BLOCK_BYTES)
  taken = 0
  let thrown: unknown
  try {
    streamZstd(memorySource(concatBytes(frame, frame, frame, frame)), take)
  } catch (error) {
    thrown = error
  }
  expect([thrown, taken]).toEqual([full, 2 * MAX_BLOCK_BYTES])
  expect(thrown).toBe(full)
})
