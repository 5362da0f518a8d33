/** Streams read to their end. */
import { concatBytes } from '../../src/base/bytes.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'

/** Everything until the stream ends. */
export async function readAll(stream: ByteStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read()) chunks.push(bytes)
  return concatBytes(...chunks)
}
