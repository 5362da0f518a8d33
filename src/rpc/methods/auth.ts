/** Methods `Auth…`. @see lotus node/impl/common/common.go CommonAPI */
import { utf8 } from '../../base/bytes.ts'
import { bytesOrEmpty, type Codec, listOrEmpty, nullable, struct, text, uint } from '../../codec/description.ts'
import { type MethodRow, method, nothing, param } from '../method.ts'
import { permission } from '../permission.ts'
import type { Tokens } from '../tokens.ts'

/** What the methods need. */
export interface AuthMethodsDeps {
  readonly tokens: Tokens
}

/** Properties of a token beyond its permissions. */
interface TokenOptions {
  /** Seconds until it is void; 0: never. */
  readonly expiresIn: number
}

const tokenOptions: Codec<TokenOptions> = struct<TokenOptions>('petrel.TokenOptions', [
  ['expiresIn', 'ExpiresIn', uint],
])
const permissions = nullable(listOrEmpty(permission))

/** Rows of `Auth…`. */
export function authMethods({ tokens }: AuthMethodsDeps): MethodRow[] {
  return [
    method({
      name: 'AuthNew',
      perm: 'admin',
      summary:
        'A token with these permissions, its text as base64. It never expires; equal permissions give equal tokens.',
      params: [param('permissions', permissions)],
      result: bytesOrEmpty,
      handler: (allow) => utf8(tokens.issue(allow)),
    }),
    method({
      name: 'AuthVerify',
      perm: 'read',
      summary: 'The permissions of a token.',
      params: [param('token', text)],
      result: permissions,
      handler: (token) => {
        const { allow } = tokens.inspect(token)
        return allow === null ? null : [...allow]
      },
    }),
    method({
      name: 'AuthNewToken',
      perm: 'admin',
      summary:
        'Petrel only. A token of its own, as text: it can be revoked without others of the same permissions, ' +
        'and is void after ExpiresIn seconds (0: never).',
      params: [param('permissions', listOrEmpty(permission)), param('options', nullable(tokenOptions))],
      result: text,
      handler: (allow, options) => {
        const lifetimeSec = options?.expiresIn ?? 0
        return tokens.issueUnique(allow, lifetimeSec === 0 ? undefined : lifetimeSec)
      },
    }),
    method({
      name: 'AuthRevoke',
      perm: 'admin',
      summary:
        'Petrel only. Makes a token void for ever. A token of AuthNew is one with all that have its permissions.',
      params: [param('token', text)],
      result: nothing,
      handler: (token) => tokens.revoke(token),
    }),
  ]
}
