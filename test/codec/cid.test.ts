import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { CODEC_DAG_CBOR, cidFromBytes, createCid, HASH_BLAKE2B_256, parseCid } from '../../src/codec/cid.ts'

/** Receipts of mainnet's genesis (an empty AMT v0) and mainnet's genesis parent (data/genesis/README.md). */
const BLAKE = 'bafy2bzacedswlcz5ddgqnyo3sak3jmhmkxashisnlpq6ujgyhe4mlobzpnhs6'
const SHA = 'bafyreiaqpwbbyjo4a42saasj36kkrpv4tsherf2e7bvezkert2a7dhonoi'

describe('Cid', () => {
  it('reads and writes the text forms', () => {
    for (const text of [BLAKE, SHA]) {
      const cid = parseCid(text)
      expect(cid.toString()).toBe(text)
      expect(cidFromBytes(cid.bytes).toString()).toBe(text)
      expect(createCid(cid.codec, cid.hashCode, cid.digest).equals(cid)).toBe(true)
    }
    expect(parseCid(BLAKE).codec).toBe(CODEC_DAG_CBOR)
    expect(parseCid(BLAKE).hashCode).toBe(HASH_BLAKE2B_256)
    expect(parseCid(SHA).hashCode).toBe(0x12)
  })

  it('reads version 0', () => {
    // The empty unixfs directory, known everywhere.
    const cid = parseCid('QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn')
    expect(cid.version).toBe(0)
    expect(cid.toString()).toBe('QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn')
  })

  it('refuses a padded varint, where js-multiformats does not', () => {
    const bytes = parseCid(SHA).bytes
    const padded = fromHex(`8100${toHex(bytes.subarray(1))}`)
    expect(() => cidFromBytes(padded)).toThrow(expect.objectContaining({ code: 'NOT_CANONICAL' }))
  })

  it('refuses trailing bytes, cuts, versions and bases that do not exist', () => {
    const hex = toHex(parseCid(SHA).bytes)
    expect(() => cidFromBytes(fromHex(`${hex}00`))).toThrow(expect.objectContaining({ code: 'TRAILING_BYTES' }))
    expect(() => cidFromBytes(fromHex(hex.slice(0, -2)))).toThrow(expect.objectContaining({ code: 'TRUNCATED' }))
    expect(() => cidFromBytes(fromHex(`02${hex.slice(2)}`))).toThrow(expect.objectContaining({ code: 'INVALID_CID' }))
    expect(() => parseCid('!afy')).toThrow(expect.objectContaining({ code: 'INVALID_CID' }))
    expect(() => parseCid('')).toThrow(expect.objectContaining({ code: 'INVALID_CID' }))
  })
})
