/** Streams read to their end. */
import { concatBytes } from '../../src/base/bytes.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'

/** Everything until the stream ends. */
export async function readAll(stream: ByteStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read()) chunks.push(bytes)
  return concatBytes(...chunks)
}

/** The serving end of a stream as a test wants it: what was asked, and how what is answered is taken. */
export class ServedStream implements ByteStream {
  readonly written: Uint8Array[] = []
  aborted: Error | undefined
  readonly protocol: string
  readonly #request: Uint8Array | undefined
  readonly #taken: (bytes: Uint8Array) => Promise<void>
  #isRead = false

  /**
   * @param request - undefined: it never comes
   * @param taken - what a write waits for
   */
  constructor(
    protocol: string,
    request: Uint8Array | undefined,
    taken: (bytes: Uint8Array) => Promise<void> = () => Promise.resolve(),
  ) {
    this.protocol = protocol
    this.#request = request
    this.#taken = taken
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#request === undefined) return new Promise(() => undefined)
    const chunk = this.#isRead ? undefined : this.#request
    this.#isRead = true
    return Promise.resolve(chunk)
  }

  write(bytes: Uint8Array): Promise<void> {
    this.written.push(bytes)
    return this.#taken(bytes)
  }

  closeWrite(): Promise<void> {
    return Promise.resolve()
  }

  abort(reason: Error): void {
    this.aborted = reason
  }
}

/** Whether a reader with a bound is at the end of a stream of `bytes`, when it has read as many as it may, a multiple of a MiB. */
export async function endsAtBound(protocol: string, bytes: number, bound: number): Promise<boolean> {
  const piece = 1024 * 1024
  let left = bytes
  const stream = new ServedStream(protocol, undefined)
  stream.read = () => {
    const count = Math.min(left, piece)
    left -= count
    return Promise.resolve(count === 0 ? undefined : new Uint8Array(count))
  }
  const reader = new StreamReader(stream, bound)
  for (let at = 0; at < bound; at += piece) await reader.bytes(piece)
  return reader.atEnd()
}

/** A CBOR byte string that takes so many bytes in all, 24 to 2^32. */
export function cborBytes(total: number): Uint8Array {
  const head = total < 26 ? 1 : total < 258 ? 2 : total < 65_539 ? 3 : 5
  const out = new Uint8Array(total)
  const length = total - head
  const view = new DataView(out.buffer)
  if (head === 1) out[0] = 0x40 + length
  else if (head === 2) out.set([0x58, length])
  else if (head === 3) {
    out[0] = 0x59
    view.setUint16(1, length)
  } else {
    out[0] = 0x5a
    view.setUint32(1, length)
  }
  return out
}
