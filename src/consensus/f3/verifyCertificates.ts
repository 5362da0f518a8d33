/**
 * A run of certificates, verified: their signatures together, so that most of a pairing's cost is paid once. The outcome is
 * that of verifying one after the other.
 * @see go-f3 certs/certs.go ValidateFinalityCertificates
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
  let sound = 0
  /** Of those that were not looked at yet. */
  const firstFalse = (): number | undefined => {
    const wrong = firstWrong(signed.slice(sound))
    if (wrong !== undefined) return sound + wrong
    sound = signed.length
    return undefined
  }
  let wrong: number | undefined
  try {
    for (const certificate of certificates) {
      const { committee, instance } = check
      signed.push(checkUnsigned(certificate, check))
      // Else thousands of made-up keys would be decoded for the certificates after it, and nobody have signed anything.
      if (bringsKeys(certificate)) {
        wrong = firstFalse()
        if (wrong !== undefined) break
      }
      const next = nextCommittee(certificate, committee)
      checked.push({ certificate, committee, next })
      check = { ...check, instance: instance + 1, committee: next, base: chainHead(certificate) }
    }
  } catch (failure) {
    if (!(failure instanceof Error)) throw failure
    error = failure
  }
  wrong ??= firstFalse()
  if (wrong === undefined) return { verified: checked, error }
  return { verified: checked.slice(0, wrong), error: signatureInvalid(certificates[wrong] as FinalityCertificate) }
}

function bringsKeys({ powerTableDelta }: FinalityCertificate): boolean {
  return powerTableDelta.some(({ signingKey }) => signingKey.length > 0)
}

function firstWrong(signed: readonly SignedBytes[]): number | undefined {
  if (signed.length > 1 && verifyTogether(signed)) return undefined
  const wrong = signed.findIndex(({ signature, message, publicKey }) => !verify(signature, message, publicKey))
  return wrong < 0 ? undefined : wrong
}
