/** Signatures: methods that execute messages. */
import type { ComputeOutput, InvocResult } from '../../chain/vm.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, list, listOrEmpty, nullable } from '../../codec/description.ts'
import { named } from '../../codec/goJson.ts'
import { dealId, registeredSealProof } from '../../state/scalars.ts'
import { type Address, address } from '../../types/address.ts'
import { type Message, message } from '../../types/message.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { computeOutput, invocResult } from '../types/execution.ts'

const messageParam: Codec<Message | null> = nullable(named(message, 'types.Message'))

const key = param('tipsetKey', tipsetKey)

export const stateCall: CallSignature<readonly [Param<Message | null>, Param<TipsetKey>], InvocResult> = callSignature({
  name: 'StateCall',
  cost: 'execute',
  perm: 'read',
  summary: "Runs a message without paying gas on the tipset's parent state; nothing is kept.",
  params: [param('message', messageParam), key],
  result: invocResult,
})

export const stateReplay: CallSignature<readonly [Param<TipsetKey>, Param<Cid>], InvocResult> = callSignature({
  name: 'StateReplay',
  cost: 'execute',
  perm: 'read',
  summary: 'Executes a message of the chain again, with its trace. Empty key: the message is searched.',
  params: [key, param('messageCid', cid)],
  result: invocResult,
  cacheResult: true,
})

export const stateCompute: CallSignature<
  readonly [Param<number>, Param<(Message | null)[]>, Param<TipsetKey>],
  ComputeOutput
> = callSignature({
  name: 'StateCompute',
  cost: 'execute',
  perm: 'read',
  summary: 'Executes a tipset with traces, then further messages.',
  params: [param('vmHeight', chainEpoch), param('messages', listOrEmpty(messageParam)), key],
  result: computeOutput,
  cacheResult: true,
})

export const stateComputeDataCID: CallSignature<
  readonly [Param<Address>, Param<number>, Param<number[]>, Param<TipsetKey>],
  Cid | null
> = callSignature({
  name: 'StateComputeDataCID',
  cost: 'execute',
  perm: 'read',
  versions: ['v1'],
  summary: "CommD of a sector with these deals, by asking the market's method of actors v12; null without deals.",
  params: [param('minerAddress', address), param('sectorType', registeredSealProof), param('deals', list(dealId)), key],
  result: nullable(cid),
})
