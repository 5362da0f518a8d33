/**
 * BLS signatures as Filecoin uses them: keys in G1 (48 bytes), signatures in G2 (96 bytes), secret keys little-endian.
 * @see filecoin-project/bls-signatures src/signature.rs verify_messages, aggregate; filecoin-ffi rust/src/bls/api.rs
 */
import { concatBytes, latin1 } from '../base/bytes.ts'
import type { Random } from '../base/ports.ts'
import { blake2b256 } from './blake2b.ts'
import type { BlsBackend } from './blsBackend.ts'
import { nobleBls } from './blsNoble.ts'
import { CryptoError } from './errors.ts'

/** Bytes of a secret key (little-endian number). */
export const BLS_SECRET_KEY_LENGTH = 32
/** Bytes of a compressed public key. */
export const BLS_PUBLIC_KEY_LENGTH = 48
/** Bytes of a compressed signature. */
export const BLS_SIGNATURE_LENGTH = 96

/** The aggregate of no signatures: compressed point at infinity. Blocks without BLS messages carry it. */
export const BLS_EMPTY_AGGREGATE: Uint8Array = concatBytes(Uint8Array.of(0xc0), new Uint8Array(95))

let current: BlsBackend = nobleBls

/** The back end in use. */
export function blsBackend(): BlsBackend {
  return current
}

/** Replaces the back end. */
export function setBlsBackend(backend: BlsBackend): void {
  current = backend
}

function invalidKey(): CryptoError {
  return new CryptoError(
    'INVALID_SECRET_KEY',
    'Cannot use BLS key: not 32 bytes of a number from 1 to the order minus 1',
  )
}

/**
 * @param secretKey - 32 bytes, little-endian
 * @returns 48 bytes
 * @throws CryptoError `INVALID_SECRET_KEY`
 */
export function publicKey(secretKey: Uint8Array): Uint8Array {
  const key = secretKey.length === BLS_SECRET_KEY_LENGTH ? current.publicKey(secretKey) : undefined
  if (key === undefined) throw invalidKey()
  return key
}

/**
 * @param message - any length; hashed to the curve as it is
 * @param secretKey - 32 bytes, little-endian
 * @returns 96 bytes
 * @throws CryptoError `INVALID_SECRET_KEY`
 */
export function sign(message: Uint8Array, secretKey: Uint8Array): Uint8Array {
  const signature = secretKey.length === BLS_SECRET_KEY_LENGTH ? current.sign(message, secretKey) : undefined
  if (signature === undefined) throw invalidKey()
  return signature
}

/** Whether `signature` (96 bytes) over `message` is by `publicKey` (48 bytes). Malformed input is false. */
export function verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== BLS_SIGNATURE_LENGTH || publicKey.length !== BLS_PUBLIC_KEY_LENGTH) return false
  return finish(current.verifySteps(signature, [message], [publicKey]))
}

/**
 * Whether `signature` is the aggregate of one signature per message and key. As in the reference, messages must be
 * distinct (rogue-key protection), keys must not be infinity, and an empty list is false: a block without BLS messages
 * is not checked at all.
 */
export function verifyAggregate(
  signature: Uint8Array,
  messages: readonly Uint8Array[],
  publicKeys: readonly Uint8Array[],
): boolean {
  return finish(verifyAggregateSteps(signature, messages, publicKeys))
}

/** {@link verifyAggregate} in short steps: 10,000 messages take ten seconds, and others must not wait so long. */
export function* verifyAggregateSteps(
  signature: Uint8Array,
  messages: readonly Uint8Array[],
  publicKeys: readonly Uint8Array[],
): Generator<undefined, boolean> {
  if (signature.length !== BLS_SIGNATURE_LENGTH) return false
  if (messages.length === 0 || messages.length !== publicKeys.length) return false
  const seen = new Set<string>()
  for (const message of messages) seen.add(latin1(message))
  if (seen.size !== messages.length) return false
  for (const key of publicKeys) if (key.length !== BLS_PUBLIC_KEY_LENGTH) return false
  return yield* current.verifySteps(signature, messages, publicKeys)
}

function finish(steps: Generator<undefined, boolean>): boolean {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** One signature by one key over one message. */
export interface SignedBytes {
  readonly signature: Uint8Array
  readonly message: Uint8Array
  readonly publicKey: Uint8Array
}

/** Bytes of a weight: chance 2^-127 that wrong signatures cancel out, since back ends may take the next odd number. */
const WEIGHT_LENGTH = 16

/**
 * Whether every one of these verifies, by one check over all of them; which one does not, it cannot say. The weights are
 * drawn from the hash of everything that is checked, so nobody can make signatures that cancel out.
 */
export function verifyTogether(all: readonly SignedBytes[]): boolean {
  if (all.length === 0) return true
  const parts: Uint8Array[] = []
  for (const { signature, message, publicKey: key } of all) {
    if (signature.length !== BLS_SIGNATURE_LENGTH || key.length !== BLS_PUBLIC_KEY_LENGTH) return false
    parts.push(signature, blake2b256(message), key)
  }
  const seed = blake2b256(concatBytes(...parts))
  const block = new Uint8Array(seed.length + 4)
  block.set(seed)
  const words = new DataView(block.buffer)
  const weights = all.map((_, i) => {
    words.setUint32(seed.length, i)
    return blake2b256(block).subarray(0, WEIGHT_LENGTH)
  })
  return current.verifyTogether(
    all.map(({ signature }) => signature),
    all.map(({ message }) => message),
    all.map(({ publicKey: key }) => key),
    weights,
  )
}

/**
 * Sum of signatures.
 * @returns 96 bytes; infinity for an empty list
 * @throws CryptoError `INVALID_SIGNATURE` when one is no point of the group
 */
export function aggregate(signatures: readonly Uint8Array[]): Uint8Array {
  const sound = signatures.every((signature) => signature.length === BLS_SIGNATURE_LENGTH)
  const sum = sound ? current.aggregate(signatures) : undefined
  if (sum === undefined) throw new CryptoError('INVALID_SIGNATURE', 'Cannot aggregate: a signature is no point of G2')
  return sum
}

/**
 * A new secret key: uniform below the group order.
 * @returns 32 bytes, little-endian
 */
export function generateSecretKey(random: Random): Uint8Array {
  const key = new Uint8Array(BLS_SECRET_KEY_LENGTH)
  for (let attempt = 0; attempt < 256; attempt++) {
    random.fill(key)
    // The order has 255 bits: one draw in two fits once the top bit is off.
    key[31] = (key[31] as number) & 0x7f
    if (current.publicKey(key) !== undefined) return key
  }
  throw new CryptoError('INVALID_SECRET_KEY', 'Cannot make a key: the random source gives no usable bytes')
}
