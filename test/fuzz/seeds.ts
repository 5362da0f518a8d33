/** Inputs to begin with that a target accepts: written by the codecs themselves, each field in use. */
import { zstdCompressSync } from 'node:zlib'
import { carBytes } from '../../src/archive/car.ts'
import { ForestWriter } from '../../src/archive/forestWriter.ts'
import type { OpenScratch } from '../../src/archive/scratchFile.ts'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { encodeRlp } from '../../src/codec/rlp.ts'
import type { FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { bitFieldOf } from '../../src/ipld/bitfield.ts'
import { type Blockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { networkJson } from '../../src/networks/networkJson.ts'
import { idAddress, secp256k1Address } from '../../src/types/address.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import type { Message } from '../../src/types/message.ts'
import { SIGNATURE_BLS, SIGNATURE_SECP256K1 } from '../../src/types/signature.ts'
import { type SignedMessage, signedMessage } from '../../src/types/signedMessage.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'

const cid: Cid = blockCid(utf8('a block'))

/** Of a block with everything that a block can have. */
export const FULL_HEADER: BlockHeader = {
  ...header(createTipset([header(undefined, 0, 0)]), 1, 0),
  beaconEntries: [{ round: 7, data: new Uint8Array(96).fill(1) }],
  winPoStProof: [{ postProof: 3, proofBytes: new Uint8Array(192).fill(2) }],
  blsAggregate: { type: SIGNATURE_BLS, data: new Uint8Array(96).fill(3) },
  blockSig: { type: SIGNATURE_BLS, data: new Uint8Array(96).fill(4) },
}

const MESSAGE: Message = {
  version: 0,
  to: idAddress(1000n),
  from: secp256k1Address(Uint8Array.of(4, 1, 2)),
  nonce: 5n,
  value: 10n ** 18n,
  gasLimit: 1_000_000n,
  gasFeeCap: 100n,
  gasPremium: 1n,
  method: 2n,
  params: Uint8Array.of(0x82, 1, 2),
}

/** A signed message with parameters. */
export const SIGNED: SignedMessage = {
  message: MESSAGE,
  signature: { type: SIGNATURE_SECP256K1, data: new Uint8Array(65).fill(5) },
}

const tipset = { epoch: 900, key: concatBytes(cid.bytes, cid.bytes), powerTable: cid, commitments: new Uint8Array(32) }

/** Two tipsets, two signers, and a change of power. */
export const CERTIFICATE: FinalityCertificate = {
  instance: 3,
  ecChain: [tipset, { ...tipset, epoch: 901 }],
  supplementalData: { commitments: new Uint8Array(32), powerTable: cid },
  signers: bitFieldOf([0, 2, 3]),
  signature: new Uint8Array(96).fill(6),
  powerTableDelta: [{ participantId: 1000, powerDelta: -5n, signingKey: new Uint8Array(48).fill(7) }],
}

const word = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const account = new Uint8Array(20).fill(0x11)

/** An EIP-1559 transaction of chain 1, and one from before EIP-155. */
export function transactions(): readonly Uint8Array[] {
  const number = (value: number): Uint8Array => (value === 0 ? new Uint8Array(0) : Uint8Array.of(value))
  const fees = [number(2), number(100)]
  const call = [number(0x52), account, number(5), Uint8Array.of(0x12, 0x34)]
  const signed = [word(0x22), word(0x33)]
  return [
    concatBytes(Uint8Array.of(2), encodeRlp([number(1), number(1), ...fees, ...call, [], number(0), ...signed])),
    encodeRlp([number(1), number(100), ...call, Uint8Array.of(27), ...signed]),
    // No byte of it can be said a million times without its length.
    encodeRlp([number(1), number(100), ...call, Uint8Array.of(27), word(0x22), new Uint8Array(1_000_000).fill(1)]),
  ]
}

/** The settings of a network, as a node writes them. */
export function networkText(): Uint8Array {
  return utf8(stringifyJson(networkJson(builtinNetwork('devnet'))))
}

/** Blocks as one input: each behind its length, the root first. */
export function packed(make: (store: Blockstore) => Cid): Uint8Array {
  const kept = new Map<string, Uint8Array>()
  class Kept extends MemoryBlockstore {
    override put(key: Cid, data: Uint8Array): void {
      kept.set(key.key, data)
      super.put(key, data)
    }
  }
  const root = make(new Kept())
  const blocks = [
    kept.get(root.key) as Uint8Array,
    ...[...kept].filter(([key]) => key !== root.key).map(([, data]) => data),
  ]
  return concatBytes(...blocks.flatMap((data) => [Uint8Array.of(data.length >> 8, data.length & 0xff), data]))
}

const BLOCKS = [1, 2, 3].map((n) => [blockCid(Uint8Array.of(n)), Uint8Array.of(n)] as const)
/** Of the blocks in {@link archives}. */
export const BLOCK_CIDS: readonly Cid[] = BLOCKS.map(([key]) => key)
const CAR_V1 = carBytes([BLOCKS[0]?.[0] as Cid], BLOCKS)

/** A CAR of version 2 without an index. @see CARv2 specification, "Pragma", "Header" */
function carV2(): Uint8Array {
  const pragma = Uint8Array.of(0x0a, 0xa1, 0x67, ...utf8('version'), 2)
  const head = new Uint8Array(40)
  const view = new DataView(head.buffer)
  view.setBigUint64(16, BigInt(pragma.length + head.length), true)
  view.setBigUint64(24, BigInt(CAR_V1.length), true)
  return concatBytes(pragma, head, CAR_V1)
}

const openScratch: OpenScratch = () => {
  const parts: Uint8Array[] = []
  return {
    write: (data) => void parts.push(data.slice()),
    source: () => memorySource(concatBytes(...parts)),
    close: () => undefined,
  }
}

function forestCar(): Uint8Array {
  const pieces: Uint8Array[] = []
  const sink = { write: (data: Uint8Array) => void pieces.push(data.slice()) }
  const options = { compress: (data: Uint8Array) => new Uint8Array(zstdCompressSync(data)), openScratch }
  const writer = new ForestWriter(sink, [BLOCKS[0]?.[0] as Cid], options)
  for (const [key, data] of BLOCKS) writer.add(key, data)
  writer.finish()
  return concatBytes(...pieces)
}

/** Archives of every form that is read in place. */
export function archives(): readonly Uint8Array[] {
  return [CAR_V1, carV2(), new Uint8Array(zstdCompressSync(CAR_V1)), forestCar()]
}

/** Bytes of a message on its way. */
export const signedBytes = (): Uint8Array => encode(signedMessage, SIGNED)
