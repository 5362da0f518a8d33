/** A machine over a hand-made state, whose actors' code is written in the test. */
import { utf8 } from '../../../src/base/bytes.ts'
import { type Cid, CODEC_RAW, createCid, HASH_IDENTITY } from '../../../src/codec/cid.ts'
import { type Codec, cid, list, text, tuple, u64, uint } from '../../../src/codec/description.ts'
import { EMPTY_ARRAY, EMPTY_ARRAY_CID } from '../../../src/fvm/emptyArray.ts'
import { Executor } from '../../../src/fvm/executor.ts'
import type { Externs } from '../../../src/fvm/externs.ts'
import type { ActorCode, Kernel } from '../../../src/fvm/kernel/kernel.ts'
import { ActorExit } from '../../../src/fvm/kernel/outcomes.ts'
import type { RunBounds, Tracing } from '../../../src/fvm/machine.ts'
import { acceptAllProofs, type ProofVerifier } from '../../../src/fvm/proofVerifier.ts'
import { type Blockstore, MemoryBlockstore, putCbor } from '../../../src/ipld/blockstore.ts'
import { Hamt } from '../../../src/ipld/hamt.ts'
import { type ActorState, actorV4, actorV5 } from '../../../src/types/actor.ts'
import { type Address, address as addressForm, idAddress, secp256k1Address } from '../../../src/types/address.ts'
import type { Message } from '../../../src/types/message.ts'

/** Actors of the manifest, in this order. */
const KINDS = ['system', 'init', 'reward', 'account', 'placeholder', 'ethaccount', 'eam', 'test'] as const
export type Kind = (typeof KINDS)[number]

const FIL = 10n ** 18n
/** Funded account that sends. */
export const SENDER = 100n
const SENDER_KEY = secp256k1Address(new Uint8Array(65).fill(1))
export const TEST_ACTOR = 200n
export const BASE_FEE = 100n

type Method = (kernel: Kernel, params: number) => number

export function codeOf(kind: Kind): Cid {
  return createCid(CODEC_RAW, HASH_IDENTITY, utf8(`fil/test/${kind}`))
}

const initState: Codec<{ map: Cid; next: bigint; name: string }> = tuple('init.State', [
  ['map', 'AddressMap', cid],
  ['next', 'NextID', u64],
  ['name', 'NetworkName', text],
])
const accountState: Codec<{ address: Address }> = tuple('account.State', [['address', 'Address', addressForm]])
const systemState: Codec<{ actors: Cid }> = tuple('system.State', [['actors', 'BuiltinActors', cid]])
const manifest: Codec<{ name: string; code: Cid }[]> = list(
  tuple<{ name: string; code: Cid }>('Entry', [
    ['name', 'Name', text],
    ['code', 'Code', cid],
  ]),
)
const stateRoot: Codec<{ version: number; actors: Cid; info: Cid }> = tuple('StateRoot', [
  ['version', 'Version', uint],
  ['actors', 'Actors', cid],
  ['info', 'Info', cid],
])

export interface TinyOptions {
  readonly networkVersion?: number
  /** Code of kind `test`, by method number. */
  readonly methods?: Readonly<Record<number, Method>>
  /** Code of other kinds. */
  readonly codes?: Partial<Record<Kind, ActorCode>>
  /** More actors. */
  readonly actors?: readonly (readonly [bigint, Partial<ActorState>])[]
  /** Registered addresses. */
  readonly addresses?: readonly (readonly [Address, bigint])[]
  readonly proofs?: ProofVerifier
  /** Default: whole traces. */
  readonly tracing?: Tracing
  readonly bounds?: RunBounds
  /** Where events go. Default: nowhere. */
  readonly events?: Blockstore
}

export function tinyMachine(options: TinyOptions = {}): Executor {
  const networkVersion = options.networkVersion ?? 28
  const store = new MemoryBlockstore()
  store.put(EMPTY_ARRAY_CID, EMPTY_ARRAY)
  const form = networkVersion >= 18 ? actorV5 : actorV4
  const tree = Hamt.empty(store, form)
  const set = (id: bigint, kind: Kind, part: Partial<ActorState> = {}): void => {
    tree.set(idAddress(id).bytes, {
      code: codeOf(kind),
      head: EMPTY_ARRAY_CID,
      nonce: 0n,
      balance: 0n,
      delegatedAddress: null,
      ...part,
    })
  }
  const addresses = Hamt.empty(store, u64)
  for (const [address, id] of options.addresses ?? []) addresses.set(address.bytes, id)
  const actors = putCbor(
    store,
    manifest,
    KINDS.map((name) => ({ name, code: codeOf(name) })),
  )
  set(0n, 'system', { head: putCbor(store, systemState, { actors }) })
  set(1n, 'init', { head: putCbor(store, initState, { map: addresses.flush(), next: 300n, name: 'test' }) })
  set(2n, 'reward')
  set(99n, 'account')
  set(SENDER, 'account', { balance: 1000n * FIL, head: putCbor(store, accountState, { address: SENDER_KEY }) })
  set(TEST_ACTOR, 'test', { balance: 10n * FIL })
  for (const [id, part] of options.actors ?? []) set(id, 'test', part)
  const root = putCbor(store, stateRoot, {
    version: networkVersion >= 18 ? 5 : 4,
    actors: tree.flush(),
    info: EMPTY_ARRAY_CID,
  })
  const test: ActorCode = {
    invoke: (kernel, params) => {
      const method = options.methods?.[Number(kernel.messageContext().method)]
      if (method === undefined) throw new ActorExit(22, 'no such method')
      return method(kernel, params)
    },
  }
  const nothing: ActorCode = { invoke: () => 0 }
  const codes = new Map(
    KINDS.map((kind) => [codeOf(kind).key, options.codes?.[kind] ?? (kind === 'test' ? test : nothing)]),
  )
  return new Executor(
    {
      networkVersion,
      epoch: 1000,
      timestamp: 1_700_000_000,
      baseFee: BASE_FEE,
      circulatingSupply: 0n,
      chainId: 31_415_926n,
      stateRoot: root,
      tracing: options.tracing ?? true,
      actorDebugging: false,
    },
    {
      store,
      externs: noExterns,
      proofs: options.proofs ?? acceptAllProofs,
      loadCode: (code) => codes.get(code.key),
      bounds: options.bounds,
      events: options.events,
    },
  )
}

const noExterns: Externs = {
  chainRandomness: () => new Uint8Array(32),
  beaconRandomness: () => new Uint8Array(32),
  tipsetCid: () => EMPTY_ARRAY_CID,
  verifyConsensusFault: () => undefined,
}

/** A message from {@link SENDER} to {@link TEST_ACTOR}. */
export function testMessage(method: number, part: Partial<Message> = {}): Message {
  return {
    version: 0,
    to: idAddress(TEST_ACTOR),
    from: idAddress(SENDER),
    nonce: 0n,
    value: 0n,
    gasLimit: 1_000_000_000n,
    gasFeeCap: 200n,
    gasPremium: 10n,
    method: BigInt(method),
    params: new Uint8Array(0),
    ...part,
  }
}
