/** Signatures of methods that look for executed messages. */
import type { Cid } from '../../codec/cid.ts'
import { bool, cid, nullable } from '../../codec/description.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type MsgLookup, msgLookup } from '../types/msgLookup.ts'

export const stateSearchMsg: CallSignature<
  readonly [Param<TipsetKey>, Param<Cid>, Param<ChainEpoch>, Param<boolean>],
  MsgLookup | null
> = callSignature({
  name: 'StateSearchMsg',
  perm: 'read',
  versions: ['v1'],
  summary: 'Where a message was executed; null when it is not on the chain.',
  params: [
    param('tipsetKey', tipsetKey),
    param('messageCid', cid),
    param('limit', chainEpoch),
    param('allowReplaced', bool),
  ],
  result: nullable(msgLookup),
})
