import type { ConsensusFault, CryptoOps, ProofOps } from '../../kernel/kernel.ts'
import { Errno, SyscallError } from '../../kernel/outcomes.ts'
import { bytesResult, NOTHING, type ResultForm, type SyscallRow, syscallsOf, U32, u32, u64, VERDICT } from './row.ts'

const crypto = syscallsOf<CryptoOps & ProofOps>('crypto')

const SECP_HASH_BYTES = 32
const SECP_SIGNATURE_BYTES = 65
const SECP_KEY_BYTES = 65
const BLS_KEY_BYTES = 48
const BLS_SIGNATURE_BYTES = 96
const MAX_U32 = 0xffff_ffff

/** @see ref-fvm shared/src/sys/out.rs `VerifyConsensusFault` */
const FAULT: ResultForm<ConsensusFault> = {
  size: 20,
  write: (view, at, { epoch, target, faultType }) => {
    view.setBigInt64(at, BigInt(epoch), true)
    view.setBigUint64(at + 8, target, true)
    view.setUint32(at + 16, faultType, true)
  },
}

const VERIFY_SIGNATURE: SyscallRow = crypto(
  'verify_signature',
  'iiiiiii',
  VERDICT,
  ({ kernel, memory }, type, signatureAt, signatureLength, signerAt, signerLength, textAt, textLength) => {
    if (u32(type) !== 1 && u32(type) !== 2) {
      throw new SyscallError(Errno.IllegalArgument, `unknown signature type ${u32(type)}`)
    }
    const signature = memory.slice(u32(signatureAt), u32(signatureLength))
    const signer = memory.readAddress(u32(signerAt), u32(signerLength))
    return kernel.verifySignature(u32(type), signature, signer, memory.slice(u32(textAt), u32(textLength)))
  },
)

/** FIP-0079 */
const VERIFY_BLS_AGGREGATE: SyscallRow = crypto(
  'verify_bls_aggregate',
  'iiiii',
  VERDICT,
  ({ kernel, memory }, signers, signatureAt, keysAt, textsAt, lengthsAt) => {
    const count = u32(signers)
    if (count * BLS_KEY_BYTES > MAX_U32) {
      throw new SyscallError(Errno.IllegalArgument, `number of signatures aggregated (${count}) exceeds limit`)
    }
    const signature = memory.slice(u32(signatureAt), BLS_SIGNATURE_BYTES)
    const keys = memory.slice(u32(keysAt), count * BLS_KEY_BYTES)
    memory.checkBounds(u32(lengthsAt), count * 4)
    const lengths = new Uint32Array(count)
    let total = 0
    for (let index = 0; index < count; index++) {
      const length = memory.view.getUint32(u32(lengthsAt) + index * 4, true)
      lengths[index] = length
      // The reference's sum wraps around (a release build's u32).
      total = (total + length) >>> 0
    }
    return kernel.verifyBlsAggregate(signature, keys, memory.slice(u32(textsAt), total), lengths)
  },
)

const RECOVER_AND_HASH: readonly SyscallRow[] = [
  crypto('recover_secp_public_key', 'ii', bytesResult(SECP_KEY_BYTES), ({ kernel, memory }, hashAt, sigAt) => {
    const hash = memory.slice(u32(hashAt), SECP_HASH_BYTES)
    return kernel.recoverSecpPublicKey(hash, memory.slice(u32(sigAt), SECP_SIGNATURE_BYTES))
  }),
  crypto('hash', 'liiii', U32, ({ kernel, memory }, code, dataAt, dataLength, digestAt, digestLength) => {
    memory.checkBounds(u32(digestAt), u32(digestLength))
    const digest = kernel.hash(u64(code), memory.slice(u32(dataAt), u32(dataLength)))
    const length = Math.min(u32(digestLength), digest.length)
    memory.bytes.set(length === digest.length ? digest : digest.subarray(0, length), u32(digestAt))
    return length
  }),
]

/** FVM 2 alone verifies single seals. */
const VERIFY_SEAL: SyscallRow = crypto('verify_seal', 'ii', VERDICT, ({ kernel, memory }, at, length) =>
  kernel.verifySeal(memory.slice(u32(at), u32(length))),
)

const PROOFS: readonly SyscallRow[] = [
  crypto(
    'compute_unsealed_sector_cid',
    'liiii',
    U32,
    ({ kernel, memory }, proofType, piecesAt, piecesLength, cidAt, cidLength) => {
      const pieces = memory.slice(u32(piecesAt), u32(piecesLength))
      memory.checkBounds(u32(cidAt), u32(cidLength))
      return memory.writeCid(kernel.computeUnsealedSectorCid(proofType, pieces), u32(cidAt), u32(cidLength))
    },
  ),
  crypto('verify_post', 'ii', VERDICT, ({ kernel, memory }, at, length) =>
    kernel.verifyPost(memory.slice(u32(at), u32(length))),
  ),
  crypto(
    'verify_consensus_fault',
    'iiiiii',
    FAULT,
    ({ kernel, memory }, firstAt, firstLength, secondAt, secondLength, extraAt, extraLength) =>
      kernel.verifyConsensusFault(
        memory.slice(u32(firstAt), u32(firstLength)),
        memory.slice(u32(secondAt), u32(secondLength)),
        memory.slice(u32(extraAt), u32(extraLength)),
      ),
  ),
  crypto('verify_aggregate_seals', 'ii', VERDICT, ({ kernel, memory }, at, length) =>
    kernel.verifyAggregateSeals(memory.slice(u32(at), u32(length))),
  ),
  crypto('verify_replica_update', 'ii', VERDICT, ({ kernel, memory }, at, length) =>
    kernel.verifyReplicaUpdate(memory.slice(u32(at), u32(length))),
  ),
  crypto('batch_verify_seals', 'iii', NOTHING, ({ kernel, memory }, at, length, outAt) => {
    const results = kernel.batchVerifySeals(memory.slice(u32(at), u32(length)), (count) =>
      memory.checkBounds(u32(outAt), count),
    )
    for (let index = 0; index < results.length; index++) memory.bytes[u32(outAt) + index] = results[index] ? 1 : 0
  }),
]

/** Signatures, hashes and proofs. @see ref-fvm fvm/src/syscalls/crypto.rs, filecoin.rs */
export const CRYPTO_SYSCALLS_2: readonly SyscallRow[] = [VERIFY_SIGNATURE, ...RECOVER_AND_HASH, VERIFY_SEAL, ...PROOFS]
export const CRYPTO_SYSCALLS_3: readonly SyscallRow[] = [VERIFY_SIGNATURE, ...RECOVER_AND_HASH, ...PROOFS]
/** `verify_signature` is behind a feature that is on by default: account actors still import it. */
export const CRYPTO_SYSCALLS_4: readonly SyscallRow[] = [
  VERIFY_SIGNATURE,
  VERIFY_BLS_AGGREGATE,
  ...RECOVER_AND_HASH,
  ...PROOFS,
]
