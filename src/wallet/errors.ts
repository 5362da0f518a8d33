/**
 * `wallet/` owns keys: how they are kept, made, found, and what they sign. It knows no state: an f0 address is resolved
 * by the caller. It decides nothing about messages beyond which bytes are signed.
 */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link WalletError}. */
export type WalletErrorCode =
  | 'KEY_NOT_FOUND'
  | 'KEY_EXISTS'
  | 'WATCH_ONLY'
  | 'UNKNOWN_KEY_TYPE'
  | 'INVALID_KEY'
  | 'DAMAGED_ENTRY'
  | 'WRONG_PASSPHRASE'
  | 'LOCKED'
  | 'POLICY_INVALID'
  | 'POLICY_REFUSED'

/** Errors of wallet and keystore. Texts are Lotus' where clients read them; secrets never appear in them. */
export class WalletError extends PetrelError<WalletErrorCode> {}
