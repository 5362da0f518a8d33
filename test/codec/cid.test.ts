import { describe, expect, it } from 'vitest'
import { MAX_CID_TEXT } from '../../src/base/bounds.ts'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { CODEC_DAG_CBOR, cidFromBytes, createCid, HASH_BLAKE2B_256, parseCid } from '../../src/codec/cid.ts'
import { CodecError } from '../../src/codec/errors.ts'

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

  it('reads codes of 63 bits, as go-varint does, and no wider ones', () => {
    for (const code of ['80808080808080_10', 'ffffffffffffffff_7f']) {
      for (const head of [`01${code}a0e40220`, `0171${code}20`]) {
        const hex = `${head.replace('_', '')}${'07'.repeat(32)}`
        expect(toHex(cidFromBytes(fromHex(hex)).bytes)).toBe(hex)
      }
    }
    const wider = fromHex(`01${'80'.repeat(9)}01a0e40220${'07'.repeat(32)}`)
    expect(() => cidFromBytes(wider)).toThrow('varints larger than uint63 not supported')
  })

  it('reads version 0', () => {
    // The empty unixfs directory, known everywhere.
    const cid = parseCid('QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn')
    expect(cid.version).toBe(0)
    expect(cid.toString()).toBe('QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn')
  })

  it('reads every base of go-multibase', () => {
    // Written by js-multiformats; both cases of a letter are one where a base has only one of them.
    const texts = [
      '000000001011100011010000011100100000000100010000011100101011001011000101100111101000110001100110100000' +
        '110111000011101101110010000000101011011010010110000111011000101010111000001001000111010001001001101010' +
        '11011111000011110101000100100110110000011100100111000110001011011100000111001011110110100111100101111',
      'f0171a0e40220e5658b3d18cd06e1db9015b4b0ec55c123a24d5be1ea24d83938c5b8397b4f2f',
      'F0171A0E40220E5658B3D18CD06E1DB9015B4B0EC55C123A24D5BE1EA24D83938C5B8397B4F2F',
      'F0171a0e40220E5658B3D18CD06E1DB9015B4B0EC55C123A24D5BE1EA24D83938C5B8397B4F2F',
      'BAFY2BZACEDSWLCZ5DDGQNYO3SAK3JMHMKXASHISNLPQ6UJGYHE4MLOBZPNHS6',
      'bAFY2BZACEDSWLCZ5DDGQNYO3SAK3JMHMKXASHISNLPQ6UJGYHE4MLOBZPNHS6',
      'cafy2bzacedswlcz5ddgqnyo3sak3jmhmkxashisnlpq6ujgyhe4mlobzpnhs6===',
      'CAFY2BZACEDSWLCZ5DDGQNYO3SAK3JMHMKXASHISNLPQ6UJGYHE4MLOBZPNHS6===',
      'v05oq1p0243imb2pt336gdoeri0ar9c7can0i78idbfguk96o74scbe1pfd7iu',
      'V05OQ1P0243IMB2PT336GDOERI0AR9C7CAN0I78IDBFGUK96O74SCBE1PFD7IU',
      't05oq1p0243imb2pt336gdoeri0ar9c7can0i78idbfguk96o74scbe1pfd7iu===',
      'T05OQ1P0243IMB2PT336GDOERI0AR9C7CAN0I78IDBFGUK96O74SCBE1PFD7IU===',
      'k3l9cyb69vjlkbz06y3wwr9dhve7xc7ekj2yyntmiachx34ehdj0uasbtpr',
      'K3L9CYB69VJLKBZ06Y3WWR9DHVE7XC7EKJ2YYNTMIACHX34EHDJ0UASBTPR',
      'zDPWYqFD79MT1matgLUMSxkuasP3TeVwVdM24iUYcAukPh8kBFev',
      'ZdovxQfd79ms1LzTFktmrXKUzSo3sDuWuCm24HtxBaUKoG8KbfDV',
      'mAXGg5AIg5WWLPRjNBuHbkBW0sOxVwSOiTVvh6iTYOTjFuDl7Ty8',
      'MAXGg5AIg5WWLPRjNBuHbkBW0sOxVwSOiTVvh6iTYOTjFuDl7Ty8=',
      'uAXGg5AIg5WWLPRjNBuHbkBW0sOxVwSOiTVvh6iTYOTjFuDl7Ty8',
      'UAXGg5AIg5WWLPRjNBuHbkBW0sOxVwSOiTVvh6iTYOTjFuDl7Ty8=',
      '🚀🪐✅😲🎤☄😅🙇✋💀😌😍🙅🌒😯🤑🔴💿🚨🍓📍👀▶🔥🧡🙈😩😯🐸🥰🐾✌💞💸🎀✌☹🎶👌',
    ]
    for (const text of texts) expect(parseCid(text).toString(), text).toBe(BLAKE)
    const wrong = ['f0171a', 'fzz', 'k!', 'm****', '0', '01', '9123', 'hyfa4', '🚀x', '\0\x01q']
    for (const text of wrong) expect(() => parseCid(text), text).toThrow(CodecError)
    expect(() => parseCid(`k${'z'.repeat(MAX_CID_TEXT)}`)).toThrow(`at most ${MAX_CID_TEXT}`)
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
