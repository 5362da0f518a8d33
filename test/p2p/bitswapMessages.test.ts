/** Bitswap's messages, byte for byte as protocol buffers and the other implementations write them. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { cidFromBytes, createCid, HASH_SHA2_256, parseCid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { sha256 } from '../../src/crypto/hashes.ts'
import { type BitswapMessage, decodeMessage, encodeMessage } from '../../src/p2p/bitswap/messages.ts'
import { ProtoReader, ProtoWriter } from '../../src/p2p/bitswap/protobuf.ts'
import { seeded } from '../support/seeded.ts'

const NEWEST = '/chain/ipfs/bitswap/1.2.0'
const data = utf8('block')
const cid = blockCid(data)
const CID_HEX = toHex(cid.bytes)

function unframed(frame: Uint8Array): Uint8Array {
  const reader = new ProtoReader(frame)
  return reader.bytes()
}

describe('bitswap messages', () => {
  it('a want, by hand from bitswap_pb.proto', () => {
    const message: BitswapMessage = {
      wants: [{ cid, type: 'have', cancel: false, sendDontHave: true }],
      blocks: [],
      presences: [],
    }
    // Wantlist (1) { Entry (1) { block (1), priority (2) 1, wantType (4) Have, sendDontHave (5) true } }, behind its length.
    const entry = `0a26${CID_HEX}100120012801`
    expect(toHex(encodeMessage(message, NEWEST))).toBe(`320a300a2e${entry}`)
  })

  it('a cancel, a block and presences, by hand', () => {
    const message: BitswapMessage = {
      wants: [{ cid, type: 'block', cancel: true, sendDontHave: false }],
      blocks: [{ cid, data }],
      presences: [
        { cid, has: true },
        { cid, has: false },
      ],
    }
    const cancel = `0a2e0a2c0a26${CID_HEX}10011801`
    const block = `1a0f0a060171a0e402201205${toHex(data)}`
    const presences = `22280a26${CID_HEX}222a0a26${CID_HEX}1001`
    // 151 bytes.
    expect(toHex(encodeMessage(message, NEWEST))).toBe(`9701${cancel}${block}${presences}`)
  })

  it('comes back as it was, also with blocks of sha2-256 and of version 0', () => {
    const raw = createCid(0x55, HASH_SHA2_256, sha256(data))
    const old = cidFromBytes(Uint8Array.of(HASH_SHA2_256, 32, ...sha256(data)))
    const message: BitswapMessage = {
      wants: [
        { cid: raw, type: 'block', cancel: false, sendDontHave: false },
        { cid: old, type: 'have', cancel: false, sendDontHave: true },
        { cid, type: 'block', cancel: true, sendDontHave: true },
      ],
      blocks: [
        { cid, data },
        { cid: raw, data },
        { cid: old, data },
      ],
      presences: [
        { cid: old, has: true },
        { cid, has: false },
      ],
    }
    const decoded = decodeMessage(unframed(encodeMessage(message, NEWEST)))
    expect(decoded.wants.map(({ cid: one, ...rest }) => [String(one), rest])).toEqual(
      message.wants.map(({ cid: one, ...rest }) => [String(one), rest]),
    )
    expect(decoded.blocks.map((one) => [String(one.cid), toHex(one.data)])).toEqual(
      message.blocks.map((one) => [String(one.cid), toHex(one.data)]),
    )
    expect(decoded.presences.map((one) => [String(one.cid), one.has])).toEqual([
      [String(old), true],
      [String(cid), false],
    ])
  })

  it('older protocols have fewer words', () => {
    const message: BitswapMessage = {
      wants: [
        { cid, type: 'have', cancel: false, sendDontHave: true },
        { cid, type: 'block', cancel: false, sendDontHave: true },
      ],
      blocks: [{ cid, data }],
      presences: [{ cid, has: true }],
    }
    const second = decodeMessage(unframed(encodeMessage(message, '/chain/ipfs/bitswap/1.1.0')))
    expect(second.wants.map((want) => want.type)).toEqual(['block'])
    expect(second.blocks.map((block) => String(block.cid))).toEqual([String(cid)])
    expect(second.presences).toEqual([])
    for (const protocol of ['/chain/ipfs/bitswap/1.0.0', '/chain/ipfs/bitswap']) {
      const oldest = decodeMessage(unframed(encodeMessage(message, protocol)))
      expect(oldest.blocks).toEqual([])
      expect(oldest.bareBlocks).toEqual([data])
    }
  })

  it('fields that nobody knows are skipped, unusable blocks counted', () => {
    const writer = new ProtoWriter()
    writer.number(5, 123456)
    writer.bytes(99, utf8('later'))
    const sha3 = new ProtoWriter()
    sha3.bytes(1, fromHex('01711640'))
    sha3.bytes(2, data)
    writer.bytes(3, sha3.finish())
    const short = new ProtoWriter()
    short.bytes(1, fromHex('0171a0e40214'))
    short.bytes(2, data)
    writer.bytes(3, short.finish())
    const { unusable, blocks } = decodeMessage(writer.finish())
    expect(unusable).toBe(2)
    expect(blocks).toEqual([])
  })

  it('a block is under the CID of its bytes, whatever it is said to be', () => {
    const wanted = parseCid('bafy2bzacecyosa7gbfbphpipltz6lnwhof2d5ltmsmo4raqxhgggbya7b2ta2')
    const body = unframed(encodeMessage({ wants: [], blocks: [{ cid: wanted, data }], presences: [] }, NEWEST))
    expect(String(decodeMessage(body).blocks[0]?.cid)).toBe(String(cid))
  })

  it('random bytes never do more than fail', () => {
    const random = seeded('bitswap messages')
    const good = unframed(
      encodeMessage(
        {
          wants: [{ cid, type: 'block', cancel: false, sendDontHave: true }],
          blocks: [{ cid, data }],
          presences: [{ cid, has: true }],
        },
        NEWEST,
      ),
    )
    for (let i = 0; i < 5000; i++) {
      const bytes = i % 2 === 0 ? random.bytes(random.int(80)) : good.slice()
      if (i % 2 === 1) for (let j = random.int(3); j >= 0; j--) bytes[random.int(bytes.length)] = random.int(256)
      try {
        decodeMessage(bytes)
      } catch (error) {
        expect(error).toMatchObject({
          code: expect.stringMatching(
            /MALFORMED|TRUNCATED|NOT_CANONICAL|INVALID_CID|TRAILING_BYTES|OUT_OF_RANGE|TOO_LARGE/,
          ) as string,
        })
      }
    }
  })
})
