/** Accounts and addresses: all follow from the size and the ID. */
import { accountKey, type DevnetKey, producerKey } from '../../../src/devnet/keys.ts'
import {
  type Address,
  actorAddress,
  addressFromBytes,
  delegatedAddress,
  idAddress,
  NAMESPACE_EAM,
  PROTOCOL_BLS,
  PROTOCOL_SECP256K1,
} from '../../../src/types/address.ts'
import { ATTO_PER_FIL, type TokenAmount } from '../../../src/types/scalars.ts'
import { fillRandom, PURPOSE, random32 } from './random.ts'
import { firstIdOf, type Kind, kindOf, type StateSize } from './size.ts'

const SECP256K1_BYTES = 21
const BLS_BYTES = 49
const ETH_BYTES = 20
const KEYED_BALANCE = 10_000n * ATTO_PER_FIL
/** Unit of the other balances, attoFIL: they have up to 2^20 of it, 105 FIL. */
const BALANCE_UNIT = 10n ** 14n
const MAX_NONCE = 200

/** Text from which the keys of a state come. */
export function keySeed({ seed }: StateSize): string {
  return `mainnet size ${seed}`
}

/** Key of a miner's owner and worker. @param index - of the miner */
export function workerKey(size: StateSize, index: number): DevnetKey {
  return producerKey(keySeed(size), index)
}

const KEY_KINDS = { secp256k1: 'secp256k1', bls: 'bls', ethAccount: 'delegated' } as const

/** The accounts that can sign: all of one kind, one after the other. */
export function keyedAccount(size: StateSize, kind: keyof typeof KEY_KINDS, index: number): DevnetKey {
  if (index >= size.keyed) throw new RangeError(`no key of ${kind} ${index} is known`)
  return accountKey(keySeed(size), KEY_KINDS[kind], index)
}

function randomBytes(length: number, size: StateSize, purpose: number, id: number, protocol: number): Address {
  const bytes = new Uint8Array(length)
  bytes[0] = protocol
  fillRandom(bytes, 1, size.seed, purpose, id)
  return addressFromBytes(bytes)
}

/** Ethereum address of an account, a placeholder or a contract. */
function ethAddress(size: StateSize, id: number): Address {
  const sub = new Uint8Array(ETH_BYTES)
  fillRandom(sub, 0, size.seed, PURPOSE.delegated, id)
  return delegatedAddress(NAMESPACE_EAM, sub)
}

function isKeyed(size: StateSize, kind: Kind, index: number): boolean {
  return kind in KEY_KINDS && index < size.keyed
}

/** Addresses of all workers and keyed accounts: making a key takes a thousand times as long as all else of an account. */
export class KeyedAddresses {
  readonly #size: StateSize
  readonly #known = new Map<number, Address>()

  constructor(size: StateSize) {
    this.#size = size
  }

  get(kind: Kind, index: number, id: number): Address | undefined {
    const size = this.#size
    if (kind !== 'worker' && !isKeyed(size, kind, index)) return undefined
    let address = this.#known.get(id)
    if (address === undefined) {
      address = (kind === 'worker' ? workerKey(size, index) : keyedAccount(size, kind as keyof typeof KEY_KINDS, index))
        .address
      this.#known.set(id, address)
    }
    return address
  }
}

/** What the address map says of an actor. */
export interface ActorAddresses {
  /** f1, f2 or f3 address; undefined for an Ethereum account and a placeholder. */
  readonly robust: Address | undefined
  /** f4 address, in the actor's record too. */
  readonly delegated: Address | undefined
}

/** @param keyed - of the same size */
export function addressesOf(size: StateSize, id: number, keyed: KeyedAddresses): ActorAddresses {
  const { kind, index } = kindOf(size, id)
  const known = keyed.get(kind, index, id)
  switch (kind) {
    case 'worker':
    case 'bls':
      return {
        robust: known ?? randomBytes(BLS_BYTES, size, PURPOSE.address, id, PROTOCOL_BLS),
        delegated: undefined,
      }
    case 'secp256k1':
      return {
        robust: known ?? randomBytes(SECP256K1_BYTES, size, PURPOSE.address, id, PROTOCOL_SECP256K1),
        delegated: undefined,
      }
    case 'ethAccount':
    case 'placeholder':
      return { robust: undefined, delegated: known ?? ethAddress(size, id) }
    case 'contract':
      return { robust: robustActorAddress(size, id), delegated: ethAddress(size, id) }
    case 'miner':
    case 'multisig':
      return { robust: robustActorAddress(size, id), delegated: undefined }
  }
}

function robustActorAddress(size: StateSize, id: number): Address {
  const seedBytes = new Uint8Array(16)
  fillRandom(seedBytes, 0, size.seed, PURPOSE.address, id)
  return actorAddress(seedBytes)
}

/** AttoFIL of an actor that is no miner. */
export function balanceOf(size: StateSize, id: number): TokenAmount {
  const { kind, index } = kindOf(size, id)
  if (kind === 'worker' || isKeyed(size, kind, index)) return KEYED_BALANCE
  return BigInt(random32(size.seed, PURPOSE.balance, id) & 0xfffff) * BALANCE_UNIT
}

/** Messages that it has sent. */
export function nonceOf(size: StateSize, id: number): bigint {
  const { kind, index } = kindOf(size, id)
  if (isKeyed(size, kind, index)) return 0n
  if (kind !== 'secp256k1' && kind !== 'bls' && kind !== 'ethAccount') return 0n
  return BigInt(random32(size.seed, PURPOSE.nonce, id) % MAX_NONCE)
}

/** f0 address of an account that no miner owns. @param at - any number */
export function someAccount(size: StateSize, at: number): Address {
  return idAddress(BigInt(firstIdOf(size, 'secp256k1') + (at % size.counts.secp256k1)))
}
