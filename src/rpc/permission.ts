/** Permissions of the JSON-RPC interface: a flat set, no level implies another. */
import { type Codec, jsonOnly, text } from '../codec/description.ts'

/** One permission. */
export type Permission = 'read' | 'write' | 'sign' | 'admin'

/** All permissions, in the order in which a token of a level collects them. */
export const PERMISSIONS: readonly Permission[] = ['read', 'write', 'sign', 'admin']

/** What a caller without any token may do. */
export const ANONYMOUS: ReadonlySet<string> = new Set<string>(['read'])

/** The permissions up to and including `level`: what the command line puts in a token of that level. */
export function permissionsUpTo(level: Permission): Permission[] {
  return PERMISSIONS.slice(0, PERMISSIONS.indexOf(level) + 1)
}

/** True for the four known names. */
export function isPermission(name: string): name is Permission {
  return (PERMISSIONS as readonly string[]).includes(name)
}

/** JSON of a permission name; any text is taken, as Lotus does. */
export const permission: Codec<string> = jsonOnly(
  'auth.Permission',
  (value) => value,
  (json, context) => text.fromJson(json, context),
  { type: 'string' },
)

/** What a valid token is. */
export interface ValidToken {
  /** May be empty. */
  readonly permissions: ReadonlySet<string>
  /** One for all spellings of it, and another's for no other token: its bearers are one caller. */
  readonly name: string
}

/**
 * Checks bearer tokens. The caller passes the bare token, without `Bearer `.
 * @returns undefined when the token is not valid: the request is answered with status 401 and an empty body
 */
export interface TokenVerifier {
  verify(token: string): ValidToken | undefined
}
