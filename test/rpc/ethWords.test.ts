/**
 * What Ethereum's methods say about parameters that are no good, as Lotus v1.36.2-dev answered the same requests on a
 * local chain that it followed.
 */
import { describe, expect, it } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { roundUpGas } from '../../src/fvm/gas/charge.ts'
import { blockParam, ethCall } from '../../src/rpc/types/ethCall.ts'
import { ethBigInt } from '../../src/rpc/types/ethScalars.ts'
import { heightRange, logFilter, matchesNew, matchesPast } from '../../src/rpc/types/logFilter.ts'
import { ethAddressToAddress } from '../../src/types/ethAddress.ts'
import { parseTransaction } from '../../src/types/parseEthTransaction.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const

describe('a filter of logs', () => {
  const refusals: [Json, string][] = [
    [
      { topics: '0x' },
      'json: cannot unmarshal string into Go struct field EthFilterSpec.topics of type ethtypes.EthTopicSpec',
    ],
    [{ topics: ['0x1'] }, 'expected hex string length sans prefix 64, got 2'],
    [{ topics: [[null]] }, 'expected hex string length sans prefix 64, got 0'],
    [{ address: '0x12' }, 'expected hex string length sans prefix 40, got 2'],
    [{ fromBlock: 123 }, 'json: cannot unmarshal number into Go struct field EthFilterSpec.fromBlock of type string'],
  ]
  it.each(refusals)('%j is refused in Lotus’ words', (json, words) => {
    expect(() => logFilter.fromJson(json, JSON_CONTEXT)).toThrow(words)
  })

  it('finds no log of the past without topics and data; a stream has it', () => {
    const any = logFilter.fromJson({}, JSON_CONTEXT)
    const log = {
      json: {},
      emitter: 1000n,
      address: new Uint8Array(20),
      topics: [],
      addressText: '',
      topicTexts: [],
      logIndex: 0,
      isIndexed: false,
    }
    expect(matchesPast(any, log)).toBe(false)
    expect(matchesPast(any, { ...log, isIndexed: true })).toBe(true)
    expect(matchesNew(any, log)).toBe(true)
  })
})

it('a filter names a block or a range, not both', () => {
  const blockHash = `0x${'12'.repeat(32)}`
  for (const ends of [{ fromBlock: '0x1' }, { toBlock: 'latest' }]) {
    const filter = logFilter.fromJson({ blockHash, ...ends }, JSON_CONTEXT)
    expect(() => heightRange(filter, 10)).toThrow('must not specify block hash and from/to block')
  }
  expect(heightRange(logFilter.fromJson({ blockHash }, JSON_CONTEXT), 10)).toBeUndefined()
})

// What EthBlockNumberOrHash.UnmarshalJSON of Lotus' eth_types.go takes.
describe('a block', () => {
  const text = `0x${'12'.repeat(32)}`
  const hash = fromHex(text)
  it.each<[Json, unknown]>([
    ['latest', 'latest'],
    ['0x22b', '0x22b'],
    ['555', '0x22b'],
    [text, { hash, requireCanonical: false }],
    [{ blockNumber: '0x22b' }, '0x22b'],
    [{ blockNumber: 555 }, '0x22b'],
    [{ blockNumber: '555' }, '0x22b'],
    [{ blockHash: text }, { hash, requireCanonical: false }],
    [
      { blockHash: text, requireCanonical: true },
      { hash, requireCanonical: true },
    ],
  ])('%j', (json, block) => {
    expect(blockParam.fromJson(json, JSON_CONTEXT)).toEqual(block)
  })

  it.each<[Json, string]>([
    [{ blockNumber: '0x1', blockHash: text }, 'cannot specify both blockNumber and blockHash'],
    ['0xzz', 'invalid block param'],
    [`${text.slice(0, -1)}g`, "encoding/hex: invalid byte: U+0067 'g'"],
    [5, 'json: cannot unmarshal number into Go value of type string'],
    [[], 'json: cannot unmarshal array into Go value of type string'],
  ])('%j is refused', (json, words) => {
    expect(() => blockParam.fromJson(json, JSON_CONTEXT)).toThrow(words)
  })
})

describe('a call', () => {
  it.each(['value', 'data', 'to'])('names the field %s that is of the wrong kind', (field) => {
    const words = `json: cannot unmarshal number into Go struct field EthCallDecode.EthCallRaw.${field} of type string`
    expect(() => ethCall.fromJson({ [field]: 5 }, JSON_CONTEXT)).toThrow(words)
  })

  it.each([
    ['-0x1', -1n],
    ['0x-1', -1n],
    // A zero goes before an odd number of characters: the sign then ends the digits.
    ['-12', 0n],
    ['-123', -0x123n],
    ['0x123', 0x123n],
    ['', 0n],
  ] as const)('reads the value %s', (text, value) => {
    expect(ethBigInt.fromJson(text, JSON_CONTEXT)).toBe(value)
  })
})

it('an ID above 2^63 - 1 is refused with go-address’ words', () => {
  const masked = (id: string): Uint8Array => fromHex(`ff${'00'.repeat(11)}${id}`)
  expect(() => ethAddressToAddress(masked('ffffffffffffffff'))).toThrow('IDs must be less than 2^63')
  expect(String(ethAddressToAddress(masked('00000000000003e8')).toString('t'))).toBe('t01000')
})

it.each([
  ['0xf8', 'failed to parse legacy transaction: invalid rlp data: out of bound while parsing length'],
  ['0xc0', 'failed to parse legacy transaction: not a Legacy transaction: should have 9 elements in the rlp list'],
])('the transaction %s is refused in Lotus’ words', (raw, words) => {
  expect(() => parseTransaction(fromHex(raw), 31415926n)).toThrow(words)
})

it('a charge beyond what the machine counts shows as the largest there is', () => {
  // `OnGetRandomness` of an epoch to come: a negative lookback is a huge unsigned one.
  expect(BigInt(roundUpGas(75 * 2 ** 64 * 1000))).toBe(18446744073709552n)
})
