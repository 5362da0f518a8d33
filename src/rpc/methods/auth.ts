/** Methods `Auth…`. @see lotus node/impl/common/common.go CommonAPI */
import { utf8 } from '../../base/bytes.ts'
import { type MethodRow, method } from '../method.ts'
import { authNew, authNewToken, authRevoke, authVerify } from '../signatures/auth.ts'
import type { Tokens } from '../tokens.ts'

/** What the methods need. */
export interface AuthMethodsDeps {
  readonly tokens: Tokens
}

/** Rows of `Auth…`. */
export function authMethods({ tokens }: AuthMethodsDeps): MethodRow[] {
  return [
    method({
      ...authNew,
      handler: (allow) => utf8(tokens.issue(allow)),
    }),
    method({
      ...authVerify,
      handler: (token) => {
        const { allow } = tokens.inspect(token)
        return allow === null ? null : [...allow]
      },
    }),
    method({
      ...authNewToken,
      handler: (allow, options) => {
        const lifetimeSec = options?.expiresIn ?? 0
        return tokens.issueUnique(allow, lifetimeSec === 0 ? undefined : lifetimeSec)
      },
    }),
    method({
      ...authRevoke,
      handler: (token) => tokens.revoke(token),
    }),
  ]
}
