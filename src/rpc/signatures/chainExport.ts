/** Signatures: exports and backups. */
import { bool, bytes, type Codec, jsonOnly, struct } from '../../codec/description.ts'
import type { Json } from '../../codec/jsonText.ts'
import type { RangeSelection } from '../../sync/snapshot/walkRange.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, type ChannelSignature, callSignature, channelSignature } from '../signature.ts'

/** As bytes, but none at all are an empty text: Go's empty slice, where no slice is null. */
export const chunk: Codec<Uint8Array> = {
  ...bytes,
  toJson: (value, context) => (value.length === 0 ? '' : bytes.toJson(value, context)),
}

/** The retention that `ChainPrune` asks for. @see lotus api/api_full.go PruneOpts */
const pruneOptions: Codec<{ readonly retainState: number }> = jsonOnly(
  'PruneOpts',
  ({ retainState }) => ({ MovingGC: false, RetainState: retainState }),
  (json: Json | undefined) => {
    const retain = typeof json === 'object' && json !== null && !Array.isArray(json) ? json.RetainState : undefined
    return { retainState: typeof retain === 'number' && Number.isSafeInteger(retain) ? retain : 0 }
  },
  { type: 'object', properties: { MovingGC: { type: 'boolean' }, RetainState: { type: 'number' } } },
)

/** @see lotus api/types.go ChainExportConfig; one thread writes here, of a fixed buffer */
const rangeConfig: Codec<Omit<RangeSelection, 'tail'>> = struct<Omit<RangeSelection, 'tail'>>('api.ChainExportConfig', [
  ['messages', 'IncludeMessages', bool],
  ['receipts', 'IncludeReceipts', bool],
  ['stateRoots', 'IncludeStateRoots', bool],
])

const hotGcOptions: Codec<undefined> = jsonOnly(
  'HotGCOpts',
  () => ({ Threshold: 0, Periodic: false, Moving: false }),
  () => undefined,
  { type: 'object' },
)

export const chainExport: ChannelSignature<readonly [Param<number>, Param<boolean>, Param<TipsetKey>], Uint8Array> =
  channelSignature({
    name: 'ChainExport',
    cost: 'stream',
    perm: 'read',
    summary: 'A snapshot of the chain as chunks of a CAR; an empty chunk says that it is complete.',
    params: [param('recentStateRoots', chainEpoch), param('skipOldMsgs', bool), param('tipsetKey', tipsetKey)],
    result: chunk,
  })

export const chainExportRangeInternal: CallSignature<
  readonly [Param<TipsetKey>, Param<TipsetKey>, Param<Omit<RangeSelection, 'tail'>>],
  void
> = callSignature({
  name: 'ChainExportRangeInternal',
  cost: 'stream',
  perm: 'admin',
  versions: ['v1'],
  summary: "Writes a part of the chain to a CAR file in the node's home.",
  params: [param('head', tipsetKey), param('tail', tipsetKey), param('config', rangeConfig)],
  result: nothing,
})

export const chainPrune: CallSignature<
  readonly [
    Param<{
      readonly retainState: number
    }>,
  ],
  void
> = callSignature({
  name: 'ChainPrune',
  perm: 'admin',
  summary: 'Starts a collection of old state; RetainState: epochs of it to keep, 0 for as many as configured.',
  params: [param('opts', pruneOptions)],
  result: nothing,
})

export const chainHotGC: CallSignature<readonly [Param<undefined>], void> = callSignature({
  name: 'ChainHotGC',
  perm: 'admin',
  summary: 'Not supported: the store uses freed space again by itself.',
  params: [param('opts', hotGcOptions)],
  result: nothing,
})

export const chainCheckBlockstore: CallSignature<readonly [], void> = callSignature({
  name: 'ChainCheckBlockstore',
  perm: 'admin',
  summary: 'Not supported.',
  params: [],
  result: nothing,
})
