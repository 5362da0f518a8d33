/** Inputs made of inputs: the mutations of a fuzzer, from a seeded stream. */
import { concatBytes } from '../../src/base/bytes.ts'

/** A stream of whole numbers from 0 to `below` - 1. */
export type Random = (below: number) => number

/** mulberry32: the same inputs for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below)
  }
}

/** Bytes that decoders branch on: CBOR heads of every major type and length, ends of ranges, brackets of JSON. */
const HEADS = [
  [0x00],
  [0x17],
  [0x18, 0xff],
  [0x19, 0xff, 0xff],
  [0x1a, 0xff, 0xff, 0xff, 0xff],
  [0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x20],
  [0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x40],
  [0x5a, 0x7f, 0xff, 0xff, 0xff],
  [0x60],
  [0x7b, 0, 0, 0, 1, 0, 0, 0, 0],
  [0x80],
  [0x81],
  [0x9a, 0x00, 0xff, 0xff, 0xff],
  [0x9b, 0x00, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x9f],
  [0xa0],
  [0xbf],
  [0xba, 0x7f, 0xff, 0xff, 0xff],
  [0xd8, 0x2a],
  [0xd8, 0x2a, 0x58, 0x27, 0x00],
  [0xf4],
  [0xf5],
  [0xf6],
  [0xf7],
  [0xf9, 0x7e, 0x00],
  [0xfb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0],
  [0xff],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x7b],
  [0x7d],
  [0x5b],
  [0x5d],
  [0x22],
  [0x31, 0x65, 0x39, 0x39, 0x39],
].map((head) => Uint8Array.from(head))

function spliced(bytes: Uint8Array, at: number, removed: number, inserted: Uint8Array): Uint8Array {
  return concatBytes(bytes.subarray(0, at), inserted, bytes.subarray(Math.min(bytes.length, at + removed)))
}

function mutateOnce(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const at = random(bytes.length + 1)
  switch (random(8)) {
    case 0: {
      const out = bytes.slice()
      if (at < out.length) out[at] = (out[at] as number) ^ (1 << random(8))
      return out
    }
    case 1: {
      const out = bytes.slice()
      if (at < out.length) out[at] = random(256)
      return out
    }
    case 2:
      return spliced(bytes, at, 0, HEADS[random(HEADS.length)] as Uint8Array)
    case 3:
      return spliced(bytes, at, 1 + random(8), HEADS[random(HEADS.length)] as Uint8Array)
    case 4:
      return spliced(bytes, at, 1 + random(16), new Uint8Array(0))
    case 5: {
      const from = random(other.length + 1)
      return spliced(bytes, at, random(16), other.subarray(from, from + random(64)))
    }
    case 6: {
      const piece = bytes.subarray(at, at + 1 + random(32))
      return spliced(bytes, at, 0, concatBytes(...Array.from({ length: 1 + random(64) }, () => piece)))
    }
    default:
      return bytes.slice(0, at)
  }
}

/** With one of its bytes so often in its place that it is as long as that: what takes the square of a length shows. */
export function stretched(bytes: Uint8Array, length: number, random: Random): Uint8Array {
  const at = random(bytes.length)
  return spliced(bytes, at, 1, new Uint8Array(Math.max(1, length - bytes.length + 1)).fill(bytes[at] ?? 0))
}

/** @param other - another input, whose pieces may come in */
export function mutate(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  let out = bytes
  for (let times = 1 + random(5); times > 0; times--) out = mutateOnce(out, other, random)
  return out
}
