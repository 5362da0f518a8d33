/**
 * The node's identity: an Ed25519 key in the keystore, under the name and in the form that Lotus uses.
 * @see lotus node/modules/lp2p/libp2p.go PrivKey
 */
import { generateKeyPairFromSeed, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import type { Random } from '../../base/ports.ts'
import type { KeyStore } from '../../wallet/keyStore.ts'
import { P2pError } from '../errors.ts'
import type { PeerName } from '../peerLinks.ts'
import type { Ed25519Signing } from './hostOptions.ts'

/** Name of the entry and type of its key. */
const HOST_KEY_NAME = 'libp2p-host'

const SEED_BYTES = 32

/** Who this node is. */
export interface HostIdentity {
  readonly name: PeerName
  readonly privateKey: Ed25519PrivateKey
}

/** The same key, but another signs with it. */
export function withSigning(key: Ed25519PrivateKey, signing: Ed25519Signing): Ed25519PrivateKey {
  const sign = signing(key.raw.subarray(0, SEED_BYTES))
  return Object.assign(Object.create(key) as Ed25519PrivateKey, { sign })
}

/**
 * The identity of the keystore; made, and kept, when there is none.
 * @throws P2pError `BAD_IDENTITY` when the entry is no Ed25519 key
 */
export async function loadIdentity(keystore: KeyStore, random: Random): Promise<HostIdentity> {
  const kept = await keystore.find(HOST_KEY_NAME)
  if (kept !== undefined) return parseIdentity(kept.privateKey)
  const seed = new Uint8Array(SEED_BYTES)
  random.fill(seed)
  const privateKey = await generateKeyPairFromSeed('Ed25519', seed)
  await keystore.put(HOST_KEY_NAME, { type: HOST_KEY_NAME, privateKey: privateKeyToProtobuf(privateKey) })
  return { name: peerIdFromPrivateKey(privateKey).toString(), privateKey }
}

async function parseIdentity(bytes: Uint8Array): Promise<HostIdentity> {
  const refused = (cause?: unknown): P2pError =>
    new P2pError('BAD_IDENTITY', `Cannot use the key ${HOST_KEY_NAME}: expected an Ed25519 key`, {}, { cause })
  let privateKey: ReturnType<typeof privateKeyFromProtobuf>
  try {
    privateKey = privateKeyFromProtobuf(bytes)
  } catch (cause) {
    throw refused(cause)
  }
  if (privateKey.type !== 'Ed25519') throw refused()
  // The entry holds the public half too: where they do not belong together the entry is damaged.
  const whole = await generateKeyPairFromSeed('Ed25519', privateKey.raw.subarray(0, SEED_BYTES))
  if (!whole.publicKey.equals(privateKey.publicKey)) throw refused()
  return { name: peerIdFromPrivateKey(privateKey).toString(), privateKey }
}
