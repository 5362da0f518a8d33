/**
 * A run of certificates, verified: their signatures together, so that most of a pairing's cost is paid once. The outcome is
 * that of verifying one after the other.
 */
import { type SignedBytes, verify, verifyTogether } from '../../crypto/bls.ts'
import { chainHead, type FinalityCertificate } from './certificate.ts'
import {
  type CertificateCheck,
  type Committee,
  checkUnsigned,
  nextCommittee,
  signatureInvalid,
} from './verifyCertificate.ts'

/** A certificate that is valid. */
export interface VerifiedCertificate {
  readonly certificate: FinalityCertificate
  /** Who signed it. */
  readonly committee: Committee
  /** Who signs the next instance; the same object where nothing changed. */
  readonly next: Committee
}

/** The valid ones before the first that is not. */
export interface VerifiedRun {
  readonly verified: readonly VerifiedCertificate[]
  /** F3Error with the code of the check that failed first; undefined: all are valid. */
  readonly error: Error | undefined
}

/** @param first - what the first one is checked against */
export function verifyCertificates(certificates: readonly FinalityCertificate[], first: CertificateCheck): VerifiedRun {
  const signed: SignedBytes[] = []
  const checked: VerifiedCertificate[] = []
  let error: Error | undefined
  let check = first
  try {
    for (const certificate of certificates) {
      const { committee, instance } = check
      signed.push(checkUnsigned(certificate, check))
      const next = nextCommittee(certificate, committee)
      checked.push({ certificate, committee, next })
      check = { ...check, instance: instance + 1, committee: next, base: chainHead(certificate) }
    }
  } catch (wrong) {
    if (!(wrong instanceof Error)) throw wrong
    error = wrong
  }
  const wrong = firstWrong(signed)
  if (wrong === undefined) return { verified: checked, error }
  return { verified: checked.slice(0, wrong), error: signatureInvalid(certificates[wrong] as FinalityCertificate) }
}

function firstWrong(signed: readonly SignedBytes[]): number | undefined {
  if (signed.length > 1 && verifyTogether(signed)) return undefined
  const wrong = signed.findIndex(({ signature, message, publicKey }) => !verify(signature, message, publicKey))
  return wrong < 0 ? undefined : wrong
}
