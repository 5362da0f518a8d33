/** Publications as a peer writes them that holds back nothing: signed envelopes, many in a frame. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { encodeEnvelope } from '../p2p/gossipEnvelope.ts'

/** An author of envelopes: gossipsub asks that each is signed. @see go-libp2p-pubsub sign.go */
export class Author {
  readonly #keys = generateKeyPairSync('ed25519')
  readonly #id: Uint8Array
  #number = 0

  constructor() {
    const raw = this.#keys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
    this.#id = concatBytes(Uint8Array.of(0x00, 0x24, 0x08, 0x01, 0x12, 0x20), raw)
  }

  envelope(topic: string, data: Uint8Array): Uint8Array {
    const seqno = new Uint8Array(8)
    new DataView(seqno.buffer).setUint32(4, ++this.#number)
    const parts = { from: this.#id, data, seqno, topic: utf8(topic) }
    const signed = concatBytes(utf8('libp2p-pubsub:'), encodeEnvelope(parts))
    return encodeEnvelope({ ...parts, signature: sign(null, signed, this.#keys.privateKey) })
  }
}

/** A frame of publications. @see go-libp2p-pubsub pb/rpc.proto RPC */
export function frameOf(envelopes: readonly Uint8Array[]): Uint8Array {
  const fields = envelopes.map((one) => concatBytes(Uint8Array.of(0x12), varintBytes(one.length), one))
  const rpc = concatBytes(...fields)
  return concatBytes(varintBytes(rpc.length), rpc)
}
