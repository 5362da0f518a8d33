/** Contracts: a few codes that many share, as proxies and tokens do, and storage of very different size. */
import type { Cid } from '../../../src/codec/cid.ts'
import { CODEC_RAW } from '../../../src/codec/cid.ts'
import { keccak256 } from '../../../src/crypto/hashes.ts'
import { type Blockstore, putBlock, putCbor } from '../../../src/ipld/blockstore.ts'
import { evmState } from '../../../src/state/evm.ts'
import { type StoragePair, writeKamt } from './kamt.ts'
import { fillRandom, PURPOSE, random32 } from './random.ts'
import { firstIdOf, type StateSize } from './size.ts'

/** Contracts for each code. */
const CONTRACTS_PER_CODE = 200
const MAX_CODE_BYTES = 12_000
const WORD = 32
/** Every so many contracts one has a large storage. */
const LARGE_EVERY = 500
const LARGE_SLOTS = 3000
const SMALL_SLOTS = 24
/** Solidity's variables take the first slots. */
const VARIABLES = 5

/**
 * Takes a slot and a value, 32 bytes each: stores the value, logs it under the slot as topic, returns what is stored.
 * What follows the last instruction is never run: it makes codes differ, and as long as real ones.
 *
 *   PUSH1 20 CALLDATALOAD PUSH1 00 CALLDATALOAD SSTORE  PUSH1 00 CALLDATALOAD SLOAD PUSH1 00 MSTORE
 *   PUSH1 00 CALLDATALOAD PUSH1 20 PUSH1 00 LOG1        PUSH1 20 PUSH1 00 RETURN
 */
const PROGRAM = Uint8Array.of(
  ...[0x60, 0x20, 0x35, 0x60, 0x00, 0x35, 0x55, 0x60, 0x00, 0x35, 0x54, 0x60, 0x00, 0x52],
  ...[0x60, 0x00, 0x35, 0x60, 0x20, 0x60, 0x00, 0xa1, 0x60, 0x20, 0x60, 0x00, 0xf3],
)

/** A code and its hashes. */
export interface ContractCode {
  readonly cid: Cid
  readonly hash: Uint8Array
}

/** Writes the codes that the contracts share. */
export function writeCodes(store: Blockstore, size: StateSize): ContractCode[] {
  const count = Math.max(1, Math.ceil(size.counts.contract / CONTRACTS_PER_CODE))
  return Array.from({ length: count }, (_, i) => {
    const length = PROGRAM.length + WORD + (random32(size.seed, PURPOSE.code, i, 1) % MAX_CODE_BYTES)
    const code = new Uint8Array(length)
    code.set(PROGRAM)
    fillRandom(code, PROGRAM.length, size.seed, PURPOSE.code, i)
    return { cid: putBlock(store, code, CODEC_RAW), hash: keccak256(code) }
  })
}

/** Storage of a contract. @param index - among the contracts */
export function storageOf(size: StateSize, index: number): StoragePair[] {
  const { seed } = size
  const id = firstIdOf(size, 'contract') + index
  const spread = random32(seed, PURPOSE.slots, id)
  const count = index % LARGE_EVERY === 0 ? LARGE_SLOTS : 1 + (spread % SMALL_SLOTS)
  const mapping = new Uint8Array(WORD)
  fillRandom(mapping, 0, seed, PURPOSE.storage, id)
  return Array.from({ length: count }, (_, i): StoragePair => {
    const slot = new Uint8Array(WORD)
    if (i < VARIABLES) slot[WORD - 1] = i
    // As a mapping's: nothing to tell from a hash's bytes.
    else fillRandom(slot, 0, seed ^ id, PURPOSE.storage, i)
    const value = new Uint8Array(WORD)
    fillRandom(value, i % 3 === 0 ? WORD - 20 : WORD - 8, seed ^ id, PURPOSE.slots, i)
    value[WORD - 1] = 1
    return [slot, value]
  })
}

/** Writes a contract's state. @returns its head */
export function writeContract(store: Blockstore, size: StateSize, codes: readonly ContractCode[], index: number): Cid {
  const { cid, hash } = codes[index % codes.length] as ContractCode
  return putCbor(store, evmState, {
    bytecode: cid,
    bytecodeHash: hash,
    contractState: writeKamt(store, storageOf(size, index)),
    transientData: null,
    nonce: 1n,
    tombstone: null,
  })
}
