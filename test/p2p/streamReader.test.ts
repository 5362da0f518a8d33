/** Values come off a stream whole, however it is cut, and never larger than allowed. */
import { describe, expect, it } from 'vitest'
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { PatientStream } from '../../src/p2p/framing/patientStream.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { type Seeded, seeded } from '../support/seeded.ts'
import { VirtualTime } from '../support/virtualTime.ts'

/** A stream of these chunks, then its end. */
function streamOf(chunks: readonly Uint8Array[]): ByteStream {
  let next = 0
  return {
    protocol: '/test',
    read: async () => chunks[next++],
    write: async () => undefined,
    closeWrite: async () => undefined,
    abort: () => undefined,
  }
}

function cut(bytes: Uint8Array, random: Seeded): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.int(random.int(4) === 0 ? 5000 : 7)
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  return chunks
}

function randomItem(writer: CborWriter, random: Seeded, depth: number): void {
  const kind = random.int(depth > 4 ? 4 : 7)
  if (kind === 0) writer.uint(random.int(2) === 0 ? random.int(30) : BigInt(random.int(2 ** 31)) ** 2n)
  else if (kind === 1) writer.int(-1 - random.int(100_000))
  else if (kind === 2) writer.bytes(random.bytes(random.int(random.int(5) === 0 ? 9000 : 50)))
  else if (kind === 3) writer.bool(random.int(2) === 0)
  else if (kind === 4) {
    const length = random.int(6)
    writer.array(length)
    for (let i = 0; i < length; i++) randomItem(writer, random, depth + 1)
  } else if (kind === 5) {
    writer.map(2)
    for (let i = 0; i < 4; i++) randomItem(writer, random, depth + 1)
  } else {
    writer.tag(42)
    randomItem(writer, random, depth + 1)
  }
}

describe('stream reader', () => {
  it('long byte strings, however the stream is cut, and what follows them', async () => {
    const random = seeded('long byte strings')
    for (let run = 0; run < 40; run++) {
      const parts = Array.from({ length: 4 }, () => random.bytes(random.int(random.int(2) === 0 ? 20 : 60_000)))
      const whole = concatBytes(...parts)
      const reader = new StreamReader(streamOf(cut(whole, random)), whole.length)
      for (const part of parts) expect(toHex(await reader.bytes(part.length))).toBe(toHex(part))
      expect(await reader.atEnd()).toBe(true)
    }
    const short = new StreamReader(streamOf([new Uint8Array(9000)]), 100_000)
    await expect(short.bytes(9001)).rejects.toMatchObject({ code: 'ENDED_EARLY' })
    const long = new StreamReader(streamOf([new Uint8Array(9000)]), 8999)
    await expect(long.bytes(8999)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })

  it('finds the same items as the decoder, however the stream is cut', async () => {
    const random = seeded('stream reader')
    for (let run = 0; run < 200; run++) {
      const items = Array.from({ length: 1 + random.int(6) }, () => {
        const writer = new CborWriter()
        randomItem(writer, random, 0)
        return writer.finish()
      })
      for (const item of items) expect(new CborReader(item).readRaw()).toEqual(item)
      const reader = new StreamReader(streamOf(cut(concatBytes(...items), random)), 1_000_000)
      for (const item of items) {
        expect(await reader.atEnd()).toBe(false)
        expect(toHex(await reader.cborItem(200_000))).toBe(toHex(item))
      }
      expect(await reader.atEnd()).toBe(true)
    }
  })

  it.each([
    ['a byte string', '5a00100000', 'TOO_LARGE'],
    ['an array', '9a00100000', 'TOO_LARGE'],
    ['a map', 'ba00080000', 'TOO_LARGE'],
    ['a string of 2^63 bytes', '5b8000000000000000', 'TOO_LARGE'],
    ['an indefinite length', '5f', 'MALFORMED'],
    ['a reserved form', '1c', 'MALFORMED'],
    ['a float', 'fa00000000', 'MALFORMED'],
    ['the half of an item', '8301', 'ENDED_EARLY'],
    ['nothing', '', 'ENDED_EARLY'],
  ])('%s is refused before it has come', async (_, hex, code) => {
    const reader = new StreamReader(streamOf([fromHex(hex)]), 1_000_000)
    await expect(reader.cborItem(65_536)).rejects.toMatchObject({ code })
  })

  it('reads no more of a stream than was allowed', async () => {
    let reads = 0
    const read = async (): Promise<Uint8Array> => {
      reads++
      return new Uint8Array(1000).fill(0x80)
    }
    const endless: ByteStream = { ...streamOf([]), read }
    const reader = new StreamReader(endless, 5000)
    await expect(
      (async () => {
        for (;;) await reader.cborItem(10)
      })(),
    ).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(reads).toBe(6)
  })

  it('is linear in the number of pieces', async () => {
    const writer = new CborWriter()
    writer.bytes(new Uint8Array(3_000_000))
    const bytes = writer.finish()
    const chunks: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += 100) chunks.push(bytes.subarray(at, at + 100))
    const reader = new StreamReader(streamOf(chunks), 10_000_000)
    expect(await reader.cborItem(10_000_000)).toHaveLength(bytes.length)
  })
})

describe('patient stream', () => {
  function silent(): ByteStream & { aborted: Error[] } {
    const aborted: Error[] = []
    const forever = (): Promise<never> => new Promise(() => undefined)
    return {
      protocol: '/test',
      read: forever,
      write: forever,
      closeWrite: forever,
      abort: (reason) => aborted.push(reason),
      aborted,
    }
  }

  it('resets a stream on which nothing happens, even one that does not hear of its reset', async () => {
    const time = new VirtualTime()
    const stream = silent()
    const patient = new PatientStream(stream, { clock: time, timers: time }, { totalMs: 1000 })
    const reading = patient.read()
    reading.catch(() => undefined)
    await time.advance(999)
    expect(stream.aborted).toHaveLength(0)
    await time.advance(1)
    await expect(reading).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(patient.write(Uint8Array.of(1))).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(stream.aborted).toHaveLength(1)
    expect(time.pending).toBe(0)
  })

  it('hears of a signal, of one that came before too', async () => {
    const time = new VirtualTime()
    for (const early of [true, false]) {
      const control = new AbortController()
      if (early) control.abort(new Error('stop'))
      const patience = { totalMs: 1000, signal: control.signal }
      const patient = new PatientStream(silent(), { clock: time, timers: time }, patience)
      const reading = patient.read()
      control.abort(new Error('stop'))
      await expect(reading).rejects.toThrow('stop')
      expect(time.pending).toBe(0)
    }
  })

  it('leaves a released stream alone', async () => {
    const time = new VirtualTime()
    const stream = silent()
    const patience = { totalMs: 1000, pace: { waitMs: 10, bytesPerSecond: 1 } }
    new PatientStream(stream, { clock: time, timers: time }, patience).release()
    await time.advance(5000)
    expect(stream.aborted).toHaveLength(0)
  })
})
