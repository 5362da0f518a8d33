/** A method table whose handlers answer what the recorded node answered: the engine is tested, not the chain. */
import { cid, json, list, nullable, text } from '../../src/codec/description.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import { HttpHandler, type HttpOptions } from '../../src/rpc/http.ts'
import type { HttpRequest } from '../../src/rpc/httpMessage.ts'
import { type ChannelSink, channelMethod, type MethodRow, method, param } from '../../src/rpc/method.ts'
import { permission, type TokenVerifier } from '../../src/rpc/permission.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { address } from '../../src/types/address.ts'
import { chainEpoch } from '../../src/types/scalars.ts'
import { tipsetKey } from '../../src/types/tipset.ts'

export const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Channels that are open, newest last. */
export const openChannels: ChannelSink<Json>[] = []

const anything = json
const fixed = (name: string, perm: 'read' | 'write' | 'sign' | 'admin', params: number, answer: Json): MethodRow =>
  method({
    name,
    perm,
    params: Array.from({ length: params }, (_, i) => param(`p${i}`, anything)),
    result: json,
    handler: () => answer,
  })

export const stubRows: MethodRow[] = [
  method({
    name: 'Version',
    perm: 'read',
    params: [],
    result: json,
    handler: () => {
      throw new RpcError('FAILED', 'unknown node type 0')
    },
  }),
  fixed('StateNetworkName', 'read', 0, 'testing'),
  fixed('ChainHead', 'read', 0, { Cids: [] }),
  method({
    name: 'WalletBalance',
    perm: 'read',
    params: [param('address', address)],
    result: text,
    handler: () => '9996847709993934729856471',
  }),
  method({
    name: 'ChainGetTipSetByHeight',
    perm: 'read',
    params: [param('height', chainEpoch), param('key', tipsetKey)],
    result: json,
    handler: () => ({ Cids: [] }),
  }),
  method({ name: 'ChainGetMessage', perm: 'read', params: [param('cid', cid)], result: json, handler: () => null }),
  fixed('MpoolPending', 'read', 1, []),
  channelMethod({
    name: 'ChainNotify',
    perm: 'read',
    params: [],
    result: json,
    subscribe: (sink) => {
      openChannels.push(sink)
      sink.value(['first'])
      return () => openChannels.splice(openChannels.indexOf(sink), 1)
    },
  }),
  fixed('WalletList', 'write', 0, []),
  fixed('WalletNew', 'write', 1, 't1new'),
  fixed('MpoolPush', 'write', 1, null),
  method({
    name: 'AuthNew',
    perm: 'admin',
    params: [param('perms', nullable(list(permission)))],
    result: json,
    handler: () => 'dG9rZW4=',
  }),
  fixed('AuthVerify', 'read', 1, ['read']),
  fixed('WalletExport', 'admin', 1, null),
  fixed('StateCall', 'read', 2, null),
  fixed('MpoolPushMessage', 'sign', 2, null),
]

/** Tokens that are their own names. @param permissionsOf - undefined: not valid */
export function verifierOf(permissionsOf: (token: string) => ReadonlySet<string> | undefined): TokenVerifier {
  return {
    verify: (token) => {
      const permissions = permissionsOf(token)
      return permissions && { permissions, name: token }
    },
  }
}

/** `read`, `write`, `sign`, `admin` hold the permissions up to that. */
const LEVELS = ['read', 'write', 'sign', 'admin']
export const stubVerifier: TokenVerifier = verifierOf((token) => {
  const level = LEVELS.indexOf(token)
  return level < 0 ? undefined : new Set(LEVELS.slice(0, level + 1))
})

export function stubEngine(): RpcEngine {
  return new RpcEngine({ table: createMethodTable(stubRows), json: { addressPrefix: 't' }, log: silentLog })
}

export function stubHandler(options: Partial<Omit<HttpOptions, 'verifier'>> = {}): HttpHandler {
  return new HttpHandler(stubEngine(), {
    verifier: stubVerifier,
    health: { live: () => [], ready: () => [{ ok: false, text: 'no peer' }] },
    ...options,
  })
}

/** An HTTP request with the headers given. */
export function httpRequest(
  verb: string,
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): HttpRequest {
  return { verb, url, body, header: (name) => headers[name.toLowerCase()] }
}
