/** An F3 network of a few participants whose keys a test has, without a chain. */
import { latin1 } from '../../../src/base/bytes.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import type { ChainView } from '../../../src/chain/chainView.ts'
import type { F3Tipset, FinalityCertificate, PowerTableDelta } from '../../../src/consensus/f3/certificate.ts'
import { signingPayload } from '../../../src/consensus/f3/chainKey.ts'
import { F3 } from '../../../src/consensus/f3/f3.ts'
import type { F3Manifest } from '../../../src/consensus/f3/manifest.ts'
import { applyDelta, type PowerTable, powerTableCid, sortedPowerTable } from '../../../src/consensus/f3/powerTable.ts'
import { bdnMultipliers } from '../../../src/crypto/bdn.ts'
import { publicKey, sign } from '../../../src/crypto/bls.ts'
import { bitFieldOf } from '../../../src/ipld/bitfield.ts'

export const NETWORK = 'own'
/** Order of the groups of BLS12-381. */
const ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n
const ZEROS = new Uint8Array(32)

const littleEndian = (number: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((number >> BigInt(8 * i)) & 0xffn))
const secretOf = (id: number): bigint => BigInt(id) * 1_000_003n

/** The key of participant `id`. */
export const keyOf = (id: number): Uint8Array => publicKey(littleEndian(secretOf(id)))

/** Of equal power: two of three may sign. */
export const FIRST_TABLE = (): PowerTable =>
  sortedPowerTable([1, 2, 3].map((id) => ({ id, power: 1n << 40n, publicKey: keyOf(id) })))

/** A tipset that nobody has. */
export const tipset = (epoch: number, salt = 0): F3Tipset => ({
  epoch,
  key: new Uint8Array(38).fill(salt),
  powerTable: powerTableCid(FIRST_TABLE()),
  commitments: ZEROS,
})

/** What a certificate decides, and by whom; the rest follows. */
export interface Decided {
  readonly instance: number
  readonly chain: F3Tipset[]
  /** Who signs the instance. */
  readonly table: PowerTable
  readonly delta?: PowerTableDelta[]
  /** Indices into the table. */
  readonly signers: readonly number[]
}

/** Signed, though perhaps by too few. */
export function certify({ instance, chain, table, delta = [], signers }: Decided): FinalityCertificate {
  const certificate: FinalityCertificate = {
    instance,
    ecChain: chain,
    supplementalData: { commitments: ZEROS, powerTable: powerTableCid(applyDelta(table, delta)) },
    signers: bitFieldOf([...signers]),
    signature: new Uint8Array(96),
    powerTableDelta: delta,
  }
  const multipliers = bdnMultipliers(table.map((one) => one.publicKey))
  const secrets = signers.map((at) => (multipliers[at] as bigint) * secretOf((table[at] as { id: number }).id))
  const sum = secrets.reduce((total, secret) => (total + secret) % ORDER, 0n)
  return { ...certificate, signature: sign(signingPayload(NETWORK, certificate), littleEndian(sum)) }
}

/** A store that counts what is read of certificates and tables. */
export class CountingStore extends MemoryStore {
  readonly reads = { certificates: 0, tables: 0 }

  override get(key: Uint8Array): Uint8Array | undefined {
    const name = latin1(key)
    if (name.includes('/cert/')) this.reads.certificates++
    if (name.includes('/table/')) this.reads.tables++
    return super.get(key)
  }

  /** What was read since it was asked last. */
  taken(): { certificates: number; tables: number } {
    const taken = { ...this.reads }
    this.reads.certificates = 0
    this.reads.tables = 0
    return taken
  }
}

/** Begun at its first table, as a light node begins. */
export function ownF3(store: CountingStore): F3 {
  const table = FIRST_TABLE()
  const manifest = { networkName: NETWORK, initialInstance: 0, initialPowerTable: null } as unknown as F3Manifest
  // Nothing of the chain is read.
  const view = undefined as unknown as ChainView
  const f3 = new F3({ view, manifest, store, checkpoint: { instance: 0, powerTable: powerTableCid(table) } })
  if (f3.needsCheckpoint) f3.startFrom(table)
  return f3
}
