/** How `/rpc/v2` names a tipset. @see lotus chain/types/tipset_selector.go */
import { type Codec, type Json, type JsonContext, jsonOnly } from '../../codec/description.ts'
import { jsonField, wrongJson } from '../../codec/goJson.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'

/** `latest`, `finalized`, `safe`; others are refused when they are looked up. */
export type TipsetTag = string

/** A tipset by key or tag; `undefined` members are absent. */
export interface TipsetAnchor {
  readonly key?: TipsetKey
  readonly tag?: TipsetTag
}

/** A height on the chain that an anchor ends. */
interface TipsetHeight {
  readonly at?: number
  /** For a null round the tipset before it, else the one after it. */
  readonly previous: boolean
  readonly anchor?: TipsetAnchor
}

/** As it was sent; {@link validSelector} has the rules. */
export interface TipsetSelector extends TipsetAnchor {
  readonly height?: TipsetHeight
}

type JsonObject = { [key: string]: Json }

function objectOf(json: Json, goType: string): JsonObject {
  if (json !== null && typeof json === 'object' && !Array.isArray(json)) return json
  throw wrongJson(json, goType)
}

function present(object: JsonObject, name: string): Json | undefined {
  return jsonField(object, name) ?? undefined
}

function anchorOf(object: JsonObject, context: JsonContext): TipsetAnchor {
  const key = present(object, 'key')
  const tag = present(object, 'tag')
  if (tag !== undefined && typeof tag !== 'string') throw wrongJson(tag, 'types.TipSetTag')
  return {
    ...(key === undefined ? {} : { key: tipsetKey.fromJson(key, context) }),
    ...(tag === undefined ? {} : { tag }),
  }
}

function invalid(text: string): RpcError {
  return new RpcError('FAILED', `validating selector: ${text}`)
}

function heightOf(json: Json, context: JsonContext): TipsetHeight {
  const object = objectOf(json, 'types.TipSetHeight')
  const at = present(object, 'at')
  const anchor = present(object, 'anchor')
  return {
    ...(at === undefined ? {} : { at: chainEpoch.fromJson(at, context) }),
    previous: present(object, 'previous') === true,
    ...(anchor === undefined ? {} : { anchor: anchorOf(objectOf(anchor, 'types.TipSetAnchor'), context) }),
  }
}

/** Exactly one of the three. */
interface ValidSelector extends TipsetAnchor {
  readonly height?: TipsetHeight & { readonly at: number }
}

/** @throws RpcError `FAILED`: the method refuses it, where what is no selector at all is refused as a parameter. */
export function validSelector({ key, tag, height }: TipsetSelector): ValidSelector {
  const criteria = [key, tag, height].filter((criterion) => criterion !== undefined).length
  if (criteria !== 1) throw invalid(`exactly one tipset selection criteria must be specified, found: ${criteria}`)
  if (height === undefined) return key === undefined ? { tag: tag as TipsetTag } : { key }
  const { at, anchor } = height
  const wrong = 'validating tipset height: invalid tipset'
  if (at === undefined) throw invalid(`${wrong} height: at epoch must be specified`)
  if (at < 0) throw invalid(`${wrong} height: epoch cannot be less than zero`)
  if (anchor?.key !== undefined && anchor.tag !== undefined) {
    throw invalid(`${wrong} anchor: at most one of key or tag must be specified`)
  }
  return { height: { ...height, at } }
}

export const tipsetSelector: Codec<TipsetSelector> = jsonOnly<TipsetSelector>(
  'types.TipSetSelector',
  ({ key, height, tag }, context): Json => {
    const anchor = (named: TipsetAnchor): JsonObject => ({
      ...(named.key === undefined ? {} : { key: tipsetKey.toJson(named.key, context) }),
      ...(named.tag === undefined ? {} : { tag: named.tag }),
    })
    if (height === undefined) return anchor({ ...(key && { key }), ...(tag !== undefined && { tag }) })
    const { at, previous, anchor: from } = height
    return {
      height: { ...(at !== undefined && { at }), previous, ...(from === undefined ? {} : { anchor: anchor(from) }) },
    }
  },
  (json, context) => {
    const object = objectOf(json ?? {}, 'types.TipSetSelector')
    const height = present(object, 'height')
    return {
      ...anchorOf(object, context),
      ...(height === undefined ? {} : { height: heightOf(height, context) }),
    }
  },
  { type: 'object', title: 'types.TipSetSelector' },
)
