/** Test vectors of class "message": a state, messages, and what they must do to it. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { openArchive } from '../../../src/archive/openArchive.ts'
import { fromBase64 } from '../../../src/base/bytes.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import { type Cid, parseCid } from '../../../src/codec/cid.ts'
import { type Json, parseJson } from '../../../src/codec/jsonText.ts'
import type { Blockstore } from '../../../src/ipld/blockstore.ts'

type Fields = { readonly [key: string]: Json }

export interface Variant {
  readonly id: string
  readonly epoch: number
  readonly networkVersion: number
}

export interface ExpectedReceipt {
  readonly exitCode: number
  readonly return: Uint8Array
  readonly gasUsed: bigint
}

export interface Randomness {
  readonly kind: 'chain' | 'beacon'
  readonly epoch: number
  readonly value: Uint8Array
}

export interface Vector {
  readonly store: Blockstore
  readonly variants: readonly Variant[]
  readonly stateRoot: Cid
  readonly baseFee: bigint
  readonly circulatingSupply: bigint
  /** CBOR of each message */
  readonly messages: readonly Uint8Array[]
  readonly receipts: readonly ExpectedReceipt[]
  readonly expectedRoot: Cid
  readonly randomness: readonly Randomness[]
  /** why this runner can't run it */
  readonly unsupported: string | undefined
}

/** What the reference's runner takes where a vector says nothing. @see ref-fvm testing/conformance/src/vm.rs */
const DEFAULT_BASE_FEE = 100n
const TOTAL_FILECOIN = 2_000_000_000n * 10n ** 18n

/** Reads a vector file. Throws for a class or selector that this runner doesn't know. */
export function readVector(path: string): Vector {
  const json = parseJson(readFileSync(path, 'utf8')) as Fields
  if (json.class !== 'message') throw new Error(`unknown class of vector: ${String(json.class)}`)
  const before = json.preconditions as Fields
  const after = json.postconditions as Fields
  return {
    store: openArchive(memorySource(gunzipSync(bytes(json.car))), { verify: 'never' }),
    variants: list(before.variants).map((one) => ({
      id: String(one.id),
      epoch: Number(one.epoch),
      networkVersion: Number(one.nv),
    })),
    stateRoot: root(before),
    baseFee: integer(before.basefee, DEFAULT_BASE_FEE),
    circulatingSupply: integer(before.circ_supply, TOTAL_FILECOIN),
    messages: list(json.apply_messages).map((one) => bytes(one.bytes)),
    receipts: list(after.receipts).map((one) => ({
      exitCode: Number(one.exit_code),
      return: bytes(one.return),
      gasUsed: integer(one.gas_used, 0n),
    })),
    expectedRoot: root(after),
    randomness: list(json.randomness).map((one) => {
      const [kind, epoch] = one.on as Json[]
      if (kind !== 'chain' && kind !== 'beacon') throw new Error(`unknown kind of randomness: ${String(kind)}`)
      return { kind, epoch: Number(epoch), value: bytes(one.ret) }
    }),
    unsupported: unsupported((json.selector ?? {}) as Fields),
  }
}

function unsupported(selector: Fields): string | undefined {
  for (const key of Object.keys(selector)) {
    if (!['chaos_actor', 'min_protocol_version', 'requires:consensus_fault_extern'].includes(key)) {
      throw new Error(`unknown selector: ${key}`)
    }
  }
  if (selector.chaos_actor === 'true') return 'needs the chaos actor'
  if (selector['requires:consensus_fault_extern'] === 'true') return 'needs block headers of a chain'
  return undefined
}

function list(json: Json | undefined): Fields[] {
  return (json ?? []) as Fields[]
}

function bytes(json: Json | undefined): Uint8Array {
  return fromBase64((json ?? '') as string)
}

function integer(json: Json | undefined, fallback: bigint): bigint {
  return json === undefined || json === null ? fallback : BigInt(json as number | bigint)
}

function root(conditions: Fields): Cid {
  const tree = conditions.state_tree as Fields
  return parseCid((tree.root_cid as Fields)['/'] as string)
}
