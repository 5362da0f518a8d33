/** Signatures: `Auth…`. */
import { bytesOrEmpty, type Codec, listOrEmpty, nullable, struct, text, uint } from '../../codec/description.ts'
import { nothing, type Param, param } from '../method.ts'
import { permission } from '../permission.ts'
import { type CallSignature, callSignature } from '../signature.ts'

/** Properties of a token beyond its permissions. */
interface TokenOptions {
  /** Seconds until it is void; 0: never. */
  readonly expiresIn: number
}

const tokenOptions: Codec<TokenOptions> = struct<TokenOptions>('petrel.TokenOptions', [
  ['expiresIn', 'ExpiresIn', uint],
])

const permissions = nullable(listOrEmpty(permission))

export const authNew: CallSignature<readonly [Param<string[] | null>], Uint8Array> = callSignature({
  name: 'AuthNew',
  perm: 'admin',
  summary: 'A token with these permissions, its text as base64. It never expires; equal permissions give equal tokens.',
  params: [param('permissions', permissions)],
  result: bytesOrEmpty,
})

export const authVerify: CallSignature<readonly [Param<string>], string[] | null> = callSignature({
  name: 'AuthVerify',
  perm: 'read',
  summary: 'The permissions of a token.',
  params: [param('token', text)],
  result: permissions,
})

export const authNewToken: CallSignature<readonly [Param<string[]>, Param<TokenOptions | null>], string> =
  callSignature({
    name: 'AuthNewToken',
    perm: 'admin',
    summary:
      'Petrel only. A token of its own, as text: it can be revoked without others of the same permissions, ' +
      'and is void after ExpiresIn seconds (0: never).',
    params: [param('permissions', listOrEmpty(permission)), param('options', nullable(tokenOptions))],
    result: text,
  })

export const authRevoke: CallSignature<readonly [Param<string>], void> = callSignature({
  name: 'AuthRevoke',
  perm: 'admin',
  summary: 'Petrel only. Makes a token void for ever. A token of AuthNew is one with all that have its permissions.',
  params: [param('token', text)],
  result: nothing,
})
