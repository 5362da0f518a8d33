/** Headers, messages and signatures against filecoin-project/serialization-vectors. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { decode, encode, type Json } from '../../src/codec/description.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { blockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { message, messageCid } from '../../src/types/message.ts'
import { missingShared, readSharedText } from '../support/shared.ts'

const context = { addressPrefix: 't' } as const
type Row = { [key: string]: Json }

function rows(file: string): Row[] {
  return parseJson(readSharedText(`data/vectors/serialization/${file}`)) as Row[]
}

/** What we print may hold more (CID) than the vector does; every key of the vector must be there, equal. */
function expectSubset(actual: Json, expected: Json): void {
  for (const key of Object.keys(expected as Row)) expect((actual as Row)[key], key).toEqual((expected as Row)[key])
}

describe.skipIf(missingShared('data/vectors/serialization') !== undefined)('serialization vectors', () => {
  it('unsigned messages encode to the recorded bytes and decode to the recorded JSON', () => {
    const all = rows('unsigned_messages.json')
    expect(all.length).toBeGreaterThan(10)
    for (const row of all) {
      const value = message.fromJson(row.message, context)
      expect(toHex(encode(message, value))).toBe(row.hex_cbor)
      const decoded = decode(message, fromHex(row.hex_cbor as string))
      expectSubset(message.toJson(decoded, context), row.message as Json)
    }
  })

  it('block headers encode to the recorded bytes and CIDs', () => {
    const all = rows('block_headers.json')
    expect(all.length).toBeGreaterThan(0)
    for (const row of all) {
      const value = blockHeader.fromJson(row.block, context)
      expect(toHex(encode(blockHeader, value))).toBe(row.cbor_hex)
      expect(headerCid(value).toString()).toBe(row.cid)
      const decoded = decode(blockHeader, fromHex(row.cbor_hex as string))
      expectSubset(blockHeader.toJson(decoded, context), row.block as Json)
    }
  })

  it('messages have the recorded CIDs', () => {
    const all = rows('message_signing.json')
    expect(all.length).toBeGreaterThan(0)
    for (const row of all) {
      const cid = messageCid(message.fromJson(row.Unsigned, context))
      expect(cid.toString()).toBe(row.Cid)
      expect(toHex(cid.bytes)).toBe(row.CidHexBytes)
    }
  })
})
