/**
 * The checks of a finality certificate, in go-f3's order, each with a code of its own.
 * @see go-f3 certs/certs.go ValidateFinalityCertificates, verifyFinalityCertificateSignature
 */
import { equalBytes } from '../../base/bytes.ts'
import type { Cid } from '../../codec/cid.ts'
import { BdnGroup } from '../../crypto/bdn.ts'
import { type SignedBytes, verify } from '../../crypto/bls.ts'
import {
  chainBase,
  type F3Tipset,
  type FinalityCertificate,
  MAX_CHAIN_LENGTH,
  MAX_TIPSET_KEY_BYTES,
} from './certificate.ts'
import { signingPayload } from './chainKey.ts'
import { F3Error, type F3ErrorCode } from './errors.ts'
import {
  applyDelta,
  isStrongQuorum,
  type PowerTable,
  powerTableCid,
  type ScaledPower,
  scaledPower,
} from './powerTable.ts'

/** Longest CID of a power table, bytes. */
const MAX_CID_BYTES = 38

/** A power table with what is computed from it once. */
export class Committee {
  readonly table: PowerTable
  #cid: Cid | undefined
  #scaled: ScaledPower | undefined
  /** Of a committee before this one, until there is one here. */
  #known: BdnGroup | undefined
  #group: BdnGroup | undefined

  /** @param before - the committee of the instance before, of which this one takes over what is the same */
  constructor(table: PowerTable, before?: Committee) {
    this.table = table
    this.#known = before === undefined ? undefined : (before.#group ?? before.#known)
  }

  /** Of the table. */
  get cid(): Cid {
    this.#cid ??= powerTableCid(this.table)
    return this.#cid
  }

  /** @throws F3Error `POWER_TABLE_WRONG` */
  get scaled(): ScaledPower {
    this.#scaled ??= scaledPower(this.table)
    return this.#scaled
  }

  get group(): BdnGroup {
    if (this.#group === undefined) {
      const keys = this.table.map(({ publicKey }) => publicKey)
      this.#group = new BdnGroup(keys, this.#known)
      this.#known = undefined
    }
    return this.#group
  }
}

/** What a certificate is checked against. */
export interface CertificateCheck {
  /** F3's own name of the network. */
  readonly network: string
  readonly instance: number
  /** Who signs this instance. */
  readonly committee: Committee
  /** Head of the certificate before; undefined: none is known and any base is taken. */
  readonly base: F3Tipset | undefined
}

/**
 * @returns the committee of the next instance; the same object where nothing changed
 * @throws F3Error with the code of the first check that fails
 */
export function verifyCertificate(certificate: FinalityCertificate, check: CertificateCheck): Committee {
  const { signature, message, publicKey } = checkUnsigned(certificate, check)
  if (!verify(signature, message, publicKey)) throw signatureInvalid(certificate)
  return nextCommittee(certificate, check.committee)
}

/**
 * The checks up to the signature, which is left to verify. After it comes {@link nextCommittee}.
 * @throws F3Error with the code of the first check that fails
 */
export function checkUnsigned(certificate: FinalityCertificate, check: CertificateCheck): SignedBytes {
  const { instance, ecChain } = certificate
  const wrong = (code: F3ErrorCode, text: string): F3Error => new F3Error(code, text, { instance })
  if (instance !== check.instance) {
    throw wrong('INSTANCE_WRONG', `expected instance ${check.instance}, found instance ${instance}`)
  }
  checkChain(ecChain, wrong)
  if (check.base !== undefined && !equalF3Tipsets(check.base, chainBase(certificate))) {
    throw wrong('BASE_WRONG', `base tipset does not match finalized chain at instance ${instance}`)
  }
  const publicKey = check.committee.group.keyOf(checkSigners(certificate, check.committee, wrong))
  if (publicKey === undefined) throw signatureInvalid(certificate)
  return { signature: certificate.signature, message: signingPayload(check.network, certificate), publicKey }
}

/** The error, `SIGNATURE_INVALID`, of a certificate whose aggregate does not hold or whose signers' keys have no sum. */
export function signatureInvalid({ instance }: FinalityCertificate): F3Error {
  return new F3Error('SIGNATURE_INVALID', 'invalid signature on finality certificate', { instance })
}

type Wrong = (code: F3ErrorCode, text: string) => F3Error

/** @see go-f3 gpbft/chain.go ECChain.Validate, TipSet.Validate */
function checkChain(chain: readonly F3Tipset[], wrong: Wrong): void {
  if (chain.length > MAX_CHAIN_LENGTH) throw wrong('CHAIN_TOO_LONG', 'chain too long')
  let last = -1
  for (const { epoch, key, powerTable } of chain) {
    const unsound = key.length === 0 || key.length > MAX_TIPSET_KEY_BYTES || powerTable.length > MAX_CID_BYTES
    if (unsound) throw wrong('CHAIN_TIPSET_WRONG', `invalid tipset at epoch ${epoch} in finality certificate`)
    if (epoch <= last) throw wrong('CHAIN_EPOCHS_WRONG', `chain must have increasing epochs ${epoch} <= ${last}`)
    last = epoch
  }
  if (chain.length === 0) throw wrong('CHAIN_EMPTY', 'empty finality certificate')
}

/** @returns indices of the signers, who have two thirds of the power */
function checkSigners(certificate: FinalityCertificate, committee: Committee, wrong: Wrong): number[] {
  const { each, total } = committee.scaled
  const members: number[] = []
  let power = 0
  for (const index of certificate.signers) {
    const own = each[Number(index)]
    if (own === undefined) {
      throw wrong('SIGNER_UNKNOWN', `signer ${index}, but there are only ${each.length} entries in the power table`)
    }
    if (own === 0) throw wrong('SIGNER_WITHOUT_POWER', `signer ${index} has no effective power after scaling`)
    power += own
    members.push(Number(index))
  }
  if (!isStrongQuorum(power, total)) throw wrong('NO_QUORUM', `insufficient power: ${power} < 2/3 ${total}`)
  return members
}

/**
 * The committee that a certificate's delta leads to.
 * @throws F3Error `DELTA_NOT_SORTED`, `DELTA_WRONG`, `NEXT_TABLE_WRONG`
 */
export function nextCommittee(certificate: FinalityCertificate, committee: Committee): Committee {
  const { instance, powerTableDelta, supplementalData } = certificate
  const table = applyDelta(committee.table, powerTableDelta)
  const next = table === committee.table ? committee : new Committee(table, committee)
  const { cid } = next
  if (!cid.equals(supplementalData.powerTable)) {
    const text = `incorrect power diff: expected ${supplementalData.powerTable.toString()}, got ${cid.toString()}`
    throw new F3Error('NEXT_TABLE_WRONG', text, { instance })
  }
  // As its store does, go-f3 never lets a network end without participants.
  if (table.length === 0) throw new F3Error('NEXT_TABLE_WRONG', 'the power table would be empty', { instance })
  return next
}

/** Whether all four fields are the same. */
export function equalF3Tipsets(a: F3Tipset, b: F3Tipset): boolean {
  return (
    a.epoch === b.epoch &&
    equalBytes(a.key, b.key) &&
    a.powerTable.equals(b.powerTable) &&
    equalBytes(a.commitments, b.commitments)
  )
}
