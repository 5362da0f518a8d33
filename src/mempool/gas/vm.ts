/** The execution that gas estimation asks for. */
import type { Message } from '../../types/message.ts'
import type { Receipt } from '../../types/receipt.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import type { Tipset } from '../../types/tipset.ts'

/** What came of a trial execution. */
export interface TrialResult {
  readonly receipt: Receipt
  /** The reference's text for a failure, with its backtrace; empty on success. */
  readonly error: string
}

/** Runs messages for nothing. */
export interface GasVm {
  /**
   * Applies all messages of `tipset` on its parent state, then `prior`, then `message` as an explicit message: its nonce
   * taken from the state, a 65-byte zero signature for secp256k1 and delegated senders, and with a fee cap of 0 a base
   * fee of 0. Nothing is kept.
   * @throws when the sender does not exist: "sender <address> not found on chain: sender validation failed"
   * @returns undefined when a migration too expensive for a trial lies at that epoch
   * @see lotus chain/stmgr/call.go CallWithGas
   */
  callWithGas(message: Message, prior: readonly SignedMessage[], tipset: Tipset): Promise<TrialResult | undefined>
}
