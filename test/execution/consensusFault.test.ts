/** What counts as evidence of a fault: as lotus chain/vm/fvm.go VerifyConsensusFault judges it. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Cid, createCid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { BLS_EMPTY_AGGREGATE, publicKey, sign } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type FaultContext, faultOf } from '../../src/execution/consensusFault.ts'
import { ExternFailure } from '../../src/fvm/externs.ts'
import { type Address, actorAddress, blsAddress, idAddress } from '../../src/types/address.ts'
import { type BlockHeader, wideBlockHeader } from '../../src/types/blockHeader.ts'
import { SIGNATURE_BLS } from '../../src/types/signature.ts'

type Evidence = BlockHeader<bigint>

const DOUBLE_FORK = 1
const PARENT_GRINDING = 2
const TIME_OFFSET = 3

const MINER = idAddress(1000)
const NONE = new Uint8Array(0)
const [LARGEST_INT, LARGEST_UINT] = [(1n << 63n) - 1n, (1n << 64n) - 1n]
const secret = new Uint8Array(32)
secret[0] = 7

const cid = (n: number): Cid => createCid(0x71, 0xb220, new Uint8Array(32).fill(n))
const [x, y, z] = [cid(1), cid(2), cid(4)] as const

const base: Evidence = {
  miner: MINER,
  ticket: { vrfProof: new Uint8Array(96) },
  electionProof: { winCount: 1n, vrfProof: new Uint8Array(96) },
  beaconEntries: [],
  winPoStProof: [],
  parents: [x, y],
  parentWeight: 1n,
  height: 5n,
  parentStateRoot: z,
  parentMessageReceipts: z,
  messages: z,
  blsAggregate: { type: SIGNATURE_BLS, data: BLS_EMPTY_AGGREGATE },
  timestamp: 1n,
  blockSig: null,
  forkSignaling: 0n,
  parentBaseFee: 100n,
}

function signed(changes: Partial<Evidence>): Uint8Array {
  const header = { ...base, ...changes }
  const data = sign(encode(wideBlockHeader, { ...header, blockSig: null }), secret)
  return encode(wideBlockHeader, { ...header, blockSig: { type: SIGNATURE_BLS, data } })
}

function followed(header: Uint8Array): Uint8Array {
  return new Uint8Array([...header, 0, 1, 2])
}

let worker: Address
let asked: [string, number][]

function judge(first: Uint8Array, second: Uint8Array, extra: Uint8Array = NONE, fix?: number): number | undefined {
  asked = []
  const context: FaultContext = {
    watermelonFix: fix,
    workerKey: (miner, height) => {
      asked.push([miner.toString(), height])
      return worker
    },
  }
  return faultOf(context, first, second, extra)?.faultType
}

beforeAll(async () => {
  await initCrypto()
  worker = blsAddress(publicKey(secret))
})

describe('evidence', () => {
  it('of two blocks of an epoch, of the same parents twice, of a sibling left out', () => {
    const [a, twin, later] = [signed({}), signed({ timestamp: 2n }), signed({ height: 6n })]
    expect(judge(a, twin)).toBe(DOUBLE_FORK)
    expect(asked).toEqual([
      ['f01000', 5],
      ['f01000', 5],
    ])
    expect(judge(a, later)).toBe(TIME_OFFSET)
    expect(judge(later, a)).toBeUndefined()
    expect(judge(a, a)).toBeUndefined()
    const child = signed({ height: 6n, parents: [blockCid(twin)] })
    expect(judge(a, child)).toBeUndefined()
    expect(judge(a, child, twin)).toBe(PARENT_GRINDING)
    expect(judge(a, signed({ height: 6n, parents: [blockCid(twin), blockCid(a)] }), twin)).toBeUndefined()
    expect(judge(a, signed({ miner: idAddress(1001), timestamp: 2n }))).toBeUndefined()
    expect(judge(a, twin, NONE, 900)).toBeUndefined()
    expect(judge(a, twin, NONE, 905)).toBe(DOUBLE_FORK)
  })

  it('must be signed by the worker and be a header', () => {
    const unsigned = encode(wideBlockHeader, base)
    expect(judge(signed({}), unsigned)).toBeUndefined()
    const one = signed({})
    expect(judge(one.subarray(1), signed({ timestamp: 2n }))).toBeUndefined()
    expect(judge(one, signed({ timestamp: 2n }), Uint8Array.of(0x80))).toBeUndefined()
    expect(judge(one.subarray(0, -1), signed({ timestamp: 2n }))).toBeUndefined()
  })

  it('may have bytes behind each header', () => {
    const [a, twin] = [signed({}), signed({ timestamp: 2n })]
    expect(judge(followed(a), twin)).toBe(DOUBLE_FORK)
    expect(judge(a, followed(twin))).toBe(DOUBLE_FORK)
    // It is the same block, whatever follows.
    expect(judge(a, followed(a))).toBeUndefined()
    const child = signed({ height: 6n, parents: [blockCid(twin)] })
    expect(judge(a, child, followed(twin))).toBe(PARENT_GRINDING)
  })

  it.each<[string, Cid[], Cid[], number | undefined]>([
    ['in another order', [x, y], [y, x], TIME_OFFSET],
    ['one of them twice in the second', [x, y], [x, x], TIME_OFFSET],
    ['one of them twice in the first', [x, x], [x, y], undefined],
    ['another one', [x, y], [x, z], undefined],
    ['one less', [x, y], [x], undefined],
    ['none', [], [], TIME_OFFSET],
  ])('with parents %s', (_what, parents, others, type) => {
    expect(judge(signed({ parents }), signed({ height: 6n, parents: others }))).toBe(type)
  })

  const vrfProof = new Uint8Array(96)
  it.each<[string, Partial<Evidence>]>([
    ['timestamp', { timestamp: LARGEST_UINT }],
    ['codec of a CID', { messages: createCid(2 ** 60, 0xb220, new Uint8Array(32)) }],
    ['ForkSignaling', { forkSignaling: LARGEST_UINT }],
    ['win count', { electionProof: { winCount: LARGEST_INT, vrfProof } }],
    ['negative win count', { electionProof: { winCount: -LARGEST_INT - 1n, vrfProof } }],
    ['beacon round', { beaconEntries: [{ round: LARGEST_UINT, data: NONE }] }],
    ['proof type', { winPoStProof: [{ postProof: LARGEST_INT, proofBytes: NONE }] }],
  ])('with a %s of 64 bits', (_what, changes) => {
    expect(judge(signed({}), signed(changes))).toBe(DOUBLE_FORK)
    expect(judge(signed(changes), signed({ timestamp: 9n }))).toBe(DOUBLE_FORK)
  })

  it('of a height that has no key is none', () => {
    worker = idAddress(1)
    expect(judge(signed({ height: LARGEST_INT }), signed({ height: LARGEST_INT, timestamp: 2n }))).toBeUndefined()
    expect(asked).toEqual([['f01000', 2 ** 63]])
    worker = blsAddress(publicKey(secret))
  })

  it('against a miner that is not named by its ID cannot be told to the machine', () => {
    const miner = actorAddress(Uint8Array.of(1))
    expect(() => judge(signed({ miner }), signed({ miner, timestamp: 2n }))).toThrow(ExternFailure)
    // Without a fault there is nothing to tell.
    expect(judge(signed({ miner }), signed({ miner, height: 6n, parents: [z] }))).toBeUndefined()
  })
})
