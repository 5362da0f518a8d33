import { recover } from '../../crypto/secp256k1.ts'
import type { Address } from '../../types/address.ts'
import { ContextKernel } from './contextKernel.ts'
import { blsAggregateHolds, hashData, signatureHolds } from './cryptoChecks.ts'
import type { CryptoOps } from './kernel.ts'
import { Errno, SyscallError } from './outcomes.ts'

const BLS_KEY = 48

/** Signatures and hashes. @see ref-fvm fvm/src/kernel/default.rs `impl CryptoOps` */
export class CryptoKernel extends ContextKernel implements CryptoOps {
  verifySignature(type: number, signature: Uint8Array, signer: Address, plaintext: Uint8Array): boolean {
    const { gas, prices } = this.calls
    if (type !== 1 && type !== 2) throw new SyscallError(Errno.IllegalArgument, `unknown signature type ${type}`)
    gas.apply(prices.onVerifySignature(type, plaintext.length))
    if (signer.protocol === 1 || signer.protocol === 3) return signatureHolds(type, signature, signer, plaintext)
    return signatureHolds(type, signature, this.keyOf(signer), plaintext)
  }

  /** The key behind an address that is none itself. */
  protected keyOf(signer: Address): Address {
    throw new SyscallError(Errno.IllegalArgument, `address protocol ${signer.protocol} not supported`)
  }

  verifyBlsAggregate(
    signature: Uint8Array,
    publicKeys: Uint8Array,
    plaintexts: Uint8Array,
    lengths: Uint32Array,
  ): boolean {
    const signers = publicKeys.length / BLS_KEY
    if (signers !== lengths.length) {
      throw new SyscallError(Errno.IllegalArgument, 'unequal numbers of bls public keys and plaintexts')
    }
    this.calls.gas.apply(this.calls.prices.onVerifyBlsAggregate(signers, plaintexts.length))
    return blsAggregateHolds(signature, publicKeys, plaintexts, lengths)
  }

  recoverSecpPublicKey(hash: Uint8Array, signature: Uint8Array): Uint8Array {
    this.calls.gas.apply(this.calls.prices.onRecoverSecp())
    const key = recover(hash, signature)
    if (key === undefined) throw new SyscallError(Errno.IllegalArgument, 'public key recovery failed')
    return key
  }

  hash(code: bigint, data: Uint8Array): Uint8Array {
    const { gas, prices } = this.calls
    const digest = hashData(code)
    if (digest === undefined) throw new SyscallError(Errno.IllegalArgument, `unsupported hash code ${code}`)
    gas.apply(prices.onHashing(Number(code), data.length))
    return digest(data)
  }
}
