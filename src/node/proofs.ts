/** How a node judges storage proofs. */
import { errorMessage } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import {
  mockWinningPoSt,
  presumedWinningPoSt,
  verifiedWinningPoSt,
  type WinningPoStVerifier,
} from '../consensus/winningPoSt.ts'
import { KeyProofs } from '../fvm/keyProofs.ts'
import { acceptAllProofs, type ProofVerifier } from '../fvm/proofVerifier.ts'
import { ReceiptProofs } from '../fvm/receiptProofs.ts'
import type { Network } from '../networks/network.ts'
import type { Curve } from '../proofs/curve/curve.ts'
import { nobleCurve } from '../proofs/curve/curveNoble.ts'
import { wasmCurve } from '../proofs/curve/curveWasm.ts'
import type { ProofKeys } from '../proofs/keys/keyName.ts'
import { type KeyReader, LoadedKeys, type LoadedKeysOptions } from '../proofs/keys/loadedKeys.ts'
import { presumedProofs } from '../proofs/keys/networkKeys.ts'

/** Keys as a platform keeps them. */
export interface KeyFolder {
  /** Whether a file is there, by its full name. */
  has(name: string): boolean
  readonly read: KeyReader
  readonly check?: LoadedKeysOptions['check']
}

/** The curve that is fastest here. */
export function loadCurve(log: Logger): Curve {
  try {
    return wasmCurve()
  } catch (error) {
    log.warn('slow verification of storage proofs', { reason: errorMessage(error) })
    return nobleCurve
  }
}

/** Keys of a folder, read when they are asked for. */
export function keysOf({ read, check }: KeyFolder, curve: Curve): ProofKeys {
  return new LoadedKeys({ curve, read, ...(check === undefined ? {} : { check }) })
}

/** For executions. Mocked proofs are accepted; without a key, the chain's own receipts decide. */
export function proofsOf(network: Network, keys: ProofKeys | undefined): ProofVerifier {
  if (network.proofs === 'accept') return acceptAllProofs
  return keys === undefined ? new ReceiptProofs() : new KeyProofs(keys)
}

/** For headers. */
export function winningPoStOf(network: Network, keys: ProofKeys | undefined): WinningPoStVerifier {
  if (network.proofs === 'accept') return mockWinningPoSt
  return keys === undefined ? presumedWinningPoSt : verifiedWinningPoSt(keys)
}

/**
 * What is taken for granted of storage proofs, as one line; undefined: nothing, or the network's proofs are mocked.
 * @param folder - undefined: proofs are not verified at all
 */
export function presumedOf(network: Network, folder: KeyFolder | undefined): string | undefined {
  if (network.proofs === 'accept') return undefined
  if (folder === undefined) return 'presumed, not verified: storage proofs (--proofs receipts)'
  return presumedProofs(network.name, (name) => folder.has(name))
}
