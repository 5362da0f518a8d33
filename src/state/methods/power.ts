import { int } from '../../codec/description.ts'
import { METHOD_CONSTRUCTOR, PowerMethod } from '../../types/methodNumbers.ts'
import { tokenAmount } from '../../types/scalars.ts'
import {
  createMinerParams,
  createMinerReturn,
  currentTotalPowerReturn,
  currentTotalPowerReturnUpToV14,
  enrollCronEventParams,
  minerRawPowerReturn,
  updateClaimedPowerParams,
} from '../params/power.ts'
import { sealVerifyInfo } from '../params/sealVerifyInfo.ts'
import { storagePower } from '../scalars.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the power actor. @see go-state-types builtin/v9 … v18/power/methods.go */
export const powerMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', null, null),
  method(2n, 'CreateMiner', createMinerParams, createMinerReturn),
  method(3n, 'UpdateClaimedPower', updateClaimedPowerParams, null),
  method(4n, 'EnrollCronEvent', enrollCronEventParams, null),
  method(PowerMethod.OnEpochTickEnd, 'CronTick', null, null),
  method(PowerMethod.UpdatePledgeTotal, 'UpdatePledgeTotal', tokenAmount, null),
  method(8n, 'SubmitPoRepForBulkVerify', sealVerifyInfo, null, { retired: true }),
  method(PowerMethod.CurrentTotalPower, 'CurrentTotalPower', null, currentTotalPowerReturnUpToV14, { until: 14 }),
  method(PowerMethod.CurrentTotalPower, 'CurrentTotalPower', null, currentTotalPowerReturn, { from: 15 }),
  method(196739875n, 'MinerConsensusCountExported', null, int, { from: 10 }),
  method(931722534n, 'NetworkRawPowerExported', null, storagePower, { from: 10 }),
  method(1173380165n, 'CreateMinerExported', createMinerParams, createMinerReturn, { from: 10 }),
  method(1987646258n, 'MinerCountExported', null, int, { from: 10 }),
  method(3753401894n, 'MinerRawPowerExported', int, minerRawPowerReturn, { from: 10 }),
]
