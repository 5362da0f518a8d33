/** Parameters and return values of accounts. @see go-state-types builtin/v9 … v18/account */

import type { Codec } from '../../codec/codec.ts'
import { bytes, tuple } from '../../codec/description.ts'

/** A signature (without its type byte) over a message; from v10 on the account answers whether it is its own. @see FRC-0044 */
export interface AuthenticateMessageParams {
  readonly signature: Uint8Array
  readonly message: Uint8Array
}

export const authenticateMessageParams: Codec<AuthenticateMessageParams> = tuple<AuthenticateMessageParams>(
  'account.AuthenticateMessageParams',
  [
    ['signature', 'Signature', bytes],
    ['message', 'Message', bytes],
  ],
)
