/** Signature of `MpoolExplain`. */
import type { Cid } from '../../codec/cid.ts'
import { cid } from '../../codec/description.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type Explanation, explanation } from '../types/explanation.ts'

export const mpoolExplain: CallSignature<readonly [Param<Cid>], Explanation> = callSignature({
  name: 'MpoolExplain',
  cost: 'scan',
  perm: 'read',
  summary: 'Why a message is not in a block yet, and the command that repairs it; or where it was executed.',
  params: [param('messageCid', cid)],
  result: explanation,
})
