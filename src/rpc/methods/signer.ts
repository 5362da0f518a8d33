/**
 * A signer: Lotus' wallet interface under a policy. It has no other methods, and no chain.
 * @see lotus cmd/lotus-wallet/main.go runCmd
 */
import type { Clock } from '../../base/ports.ts'
import type { Message } from '../../types/message.ts'
import { WalletError } from '../../wallet/errors.ts'
import type { PolicyGuard, SignedEntry, SigningPolicy } from '../../wallet/signingPolicy.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { REMOTE_WALLET } from '../client/remoteWallet.ts'
import { type MethodRow, method } from '../method.ts'

/** What a signer notes of each request to sign. */
export interface SignerLog {
  /** Must be durable when it returns: nothing is signed before. */
  signing(message: Message, entry: SignedEntry): void
  refused(signer: string, reason: string): void
}

/** What a signer is made of. */
export interface SignerDeps {
  readonly wallet: Wallet
  readonly policy: SigningPolicy
  readonly guard: PolicyGuard
  readonly log: SignerLog
  readonly clock: Clock
}

/** Its rows. */
export function signerMethods({ wallet, policy, guard, log, clock }: SignerDeps): MethodRow[] {
  const managed = <T>(run: () => T): T => {
    if (policy.manage) return run()
    throw new WalletError('POLICY_REFUSED', "refused by the signer's policy: keys are not managed over the API")
  }
  return [
    method({
      ...REMOTE_WALLET.sign,
      handler: async (signer, data, meta) => {
        try {
          const { message, entry } = guard.allowed(signer, data, meta, clock.nowMs())
          guard.count(entry)
          log.signing(message, entry)
        } catch (error) {
          if (error instanceof WalletError) log.refused(signer.toString(), error.message)
          throw error
        }
        return await wallet.sign(signer, data)
      },
    }),
    method({
      ...REMOTE_WALLET.has,
      handler: async (address) => policy.keys.has(address.key) && (await wallet.has(address)),
    }),
    method({
      ...REMOTE_WALLET.list,
      handler: async () => (await wallet.list()).filter((address) => policy.keys.has(address.key)),
    }),
    method({ ...REMOTE_WALLET.newKey, handler: (type) => managed(() => wallet.newKey(type)) }),
    method({ ...REMOTE_WALLET.export, handler: (address) => managed(() => wallet.export(address)) }),
    method({ ...REMOTE_WALLET.import, handler: (info) => managed(() => wallet.import(info)) }),
    method({ ...REMOTE_WALLET.delete, handler: (address) => managed(() => wallet.delete(address)) }),
  ]
}
