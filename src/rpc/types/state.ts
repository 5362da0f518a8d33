/** JSON forms of state queries. Field order is Go's. */

import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, json, jsonOnly, struct } from '../../codec/description.ts'
import { wrongJson } from '../../codec/goJson.ts'
import type { Json } from '../../codec/jsonText.ts'
import { type Address, address } from '../../types/address.ts'
import type { TokenAmount } from '../../types/scalars.ts'

/** An actor's record with its state as JSON. */
export interface ApiActorState {
  readonly balance: TokenAmount
  readonly code: Cid
  readonly state: Json
}

export const apiActorState: Codec<ApiActorState> = struct<ApiActorState>('api.ActorState', [
  ['balance', 'Balance', bigInt],
  ['code', 'Code', cid],
  ['state', 'State', json],
])

/** Filter of StateListMessages: undefined addresses match all. */
export interface MessageMatch {
  readonly to: Address
  readonly from: Address
}

export const messageMatch: Codec<MessageMatch> = {
  ...struct<MessageMatch>('api.MessageMatch', [
    ['to', 'To', address],
    ['from', 'From', address],
  ]),
  goType: '*api.MessageMatch',
}

/** Code CIDs by kind, keys sorted. */
export const codeCids: Codec<ReadonlyMap<string, Cid>> = jsonOnly<ReadonlyMap<string, Cid>>(
  'map[string]cid.Cid',
  (value, context) => {
    const out: { [key: string]: Json } = {}
    for (const name of [...value.keys()].sort()) out[name] = cid.toJson(value.get(name) as Cid, context)
    return out
  },
  (json, context) => {
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      throw wrongJson(json ?? null, 'map[string]cid.Cid')
    return new Map(Object.entries(json).map(([name, link]) => [name, cid.fromJson(link ?? null, context)]))
  },
  { type: 'object', additionalProperties: cid.schema },
)
