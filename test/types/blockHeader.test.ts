import { describe, expect, it } from 'vitest'
import { equalBytes } from '../../src/base/bytes.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { printedText, printOf } from '../../src/codec/jsonWriter.ts'
import { idAddress } from '../../src/types/address.ts'
import { type BlockHeader, blockHeader, headerCid, wideBlockHeader } from '../../src/types/blockHeader.ts'
import { type Message, message } from '../../src/types/message.ts'
import { MAX_BYTE_STRING } from '../../src/types/protocol.ts'

const context = { addressPrefix: 'f' } as const
const SOME = parseCid('bafy2bzacecnamqgqmifpluoeldx7zzglxcljo6oja4vrmtj7432rphldpdmm2')
const LARGEST = (1n << 64n) - 1n

const header: BlockHeader = {
  miner: idAddress(1000),
  ticket: { vrfProof: new Uint8Array(96) },
  electionProof: { winCount: 1, vrfProof: new Uint8Array(96) },
  beaconEntries: [{ round: 7, data: new Uint8Array(48) }],
  winPoStProof: [{ postProof: 3, proofBytes: new Uint8Array(192) }],
  parents: [SOME],
  parentWeight: 1n,
  height: 5,
  parentStateRoot: SOME,
  parentMessageReceipts: SOME,
  messages: SOME,
  blsAggregate: { type: 2, data: new Uint8Array(96) },
  timestamp: 1,
  blockSig: null,
  forkSignaling: LARGEST,
  parentBaseFee: 100n,
}

describe('a header', () => {
  it('may have any ForkSignaling, as in Lotus, which looks at it nowhere', () => {
    const bytes = encode(blockHeader, header)
    const read = decode(blockHeader, bytes)
    expect(read.forkSignaling).toBe(LARGEST)
    expect(headerCid(read).equals(headerCid(header))).toBe(true)
    const text = printedText(printOf(blockHeader), header, context)
    expect(text).toContain('"ForkSignaling":18446744073709551615')
    expect(blockHeader.fromJson(parseJson(text), context)).toEqual(header)
  })

  it('that nobody has checked may have any numbers, and is the same in bytes', () => {
    const bytes = encode(blockHeader, header)
    const wide = decode(wideBlockHeader, bytes)
    expect(wide.height).toBe(5n)
    expect(wide.beaconEntries[0]?.round).toBe(7n)
    expect(equalBytes(encode(wideBlockHeader, wide), bytes)).toBe(true)
    const [longest, least] = [(1n << 63n) - 1n, -(1n << 63n)]
    const unchecked = {
      ...wide,
      ...{ electionProof: { winCount: longest, vrfProof: new Uint8Array(0) }, height: least, timestamp: LARGEST },
      ...{ beaconEntries: [{ round: LARGEST, data: new Uint8Array(0) }] },
      ...{ winPoStProof: [{ postProof: least, proofBytes: new Uint8Array(0) }] },
    }
    expect(decode(wideBlockHeader, encode(wideBlockHeader, unchecked))).toEqual(unchecked)
    expect(() => decode(blockHeader, encode(wideBlockHeader, unchecked))).toThrow(
      expect.objectContaining({ code: 'OUT_OF_RANGE' }),
    )
  })
})

describe('byte strings', () => {
  const [longest, tooLong] = [new Uint8Array(MAX_BYTE_STRING), new Uint8Array(MAX_BYTE_STRING + 1)]
  const proof = { winCount: 1, postProof: 3, round: 7 }
  const withBytes: [string, (bytes: Uint8Array) => Partial<BlockHeader>][] = [
    ['ticket', (vrfProof) => ({ ticket: { vrfProof } })],
    ['election proof', (vrfProof) => ({ electionProof: { ...proof, vrfProof } })],
    ['beacon entry', (data) => ({ beaconEntries: [{ ...proof, data }] })],
    ['proof of spacetime', (proofBytes) => ({ winPoStProof: [{ ...proof, proofBytes }] })],
  ]
  it.each(withBytes)('of a header, a %s, are as long as cbor-gen reads', (_what, change) => {
    const read = (bytes: Uint8Array): BlockHeader =>
      decode(blockHeader, encode(blockHeader, { ...header, ...change(bytes) }))
    expect(() => read(longest)).not.toThrow()
    expect(() => read(tooLong)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
  })

  it('of a message, its parameters, too', () => {
    const [to, from] = [idAddress(1000), idAddress(1001)]
    const prices = { value: 1n, gasLimit: 1n, gasFeeCap: 1n, gasPremium: 0n }
    const read = (params: Uint8Array): Message =>
      decode(message, encode(message, { version: 0, to, from, nonce: 0n, ...prices, method: 2n, params }))
    expect(read(longest).params.length).toBe(MAX_BYTE_STRING)
    expect(() => read(tooLong)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
  })
})
