import { bool } from '../../codec/description.ts'
import { bitField } from '../../ipld/bitfield.ts'
import { address } from '../../types/address.ts'
import { METHOD_CONSTRUCTOR, MinerMethod } from '../../types/methodNumbers.ts'
import { chainEpoch, tokenAmount } from '../../types/scalars.ts'
import { vestingFunds, vestingFundsBlock } from '../miner.ts'
import { batchReturn } from '../params/batchReturn.ts'
import {
  confirmSectorProofsParams,
  internalSectorSetupForPresealParams,
  preCommitSectorBatchParams,
  preCommitSectorBatchParams2,
  preCommitSectorParams,
  proveCommitAggregateParams,
  proveCommitSectorParams,
  proveCommitSectors3Params,
  proveCommitSectorsNIParams,
} from '../params/miner/commit.ts'
import {
  changeBeneficiaryParams,
  changeMultiaddrsParams,
  changePeerIDParams,
  changeWorkerAddressParams,
  getBeneficiaryReturn,
  getControlAddressesReturn,
  getMultiAddrsReturn,
  getOwnerReturn,
  getPeerIDReturn,
  withdrawBalanceParams,
} from '../params/miner/control.ts'
import {
  checkSectorProvenParams,
  compactPartitionsParams,
  compactSectorNumbersParams,
  extendSectorExpiration2Params,
  extendSectorExpirationParams,
  generateSectorLocationParams,
  generateSectorLocationReturn,
  maxTerminationFeeParams,
  terminateSectorsParams,
  terminateSectorsReturn,
  validateSectorStatusParams,
} from '../params/miner/lifetime.ts'
import {
  declareFaultsParams,
  declareFaultsRecoveredParams,
  disputeWindowedPoStParams,
  reportConsensusFaultParams,
  submitWindowedPoStParams,
} from '../params/miner/proving.ts'
import {
  proveReplicaUpdates3Params,
  proveReplicaUpdatesParams,
  proveReplicaUpdatesParams2,
} from '../params/miner/updates.ts'
import { applyRewardParams, deferredCronEventParams } from '../params/miner/upkeep.ts'
import { minerConstructorParams } from '../params/power.ts'
import { sectorNumber, sectorSize } from '../scalars.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of miners. @see go-state-types builtin/v9 … v18/miner/methods.go */
export const minerMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', minerConstructorParams, null),
  method(2n, 'ControlAddresses', null, getControlAddressesReturn),
  method(3n, 'ChangeWorkerAddress', changeWorkerAddressParams, null),
  method(4n, 'ChangePeerID', changePeerIDParams, null),
  method(5n, 'SubmitWindowedPoSt', submitWindowedPoStParams, null),
  method(6n, 'PreCommitSector', preCommitSectorParams, null, { retired: true }),
  method(7n, 'ProveCommitSector', proveCommitSectorParams, null, { retired: true }),
  method(8n, 'ExtendSectorExpiration', extendSectorExpirationParams, null, { retired: true }),
  method(9n, 'TerminateSectors', terminateSectorsParams, terminateSectorsReturn),
  method(10n, 'DeclareFaults', declareFaultsParams, null),
  method(11n, 'DeclareFaultsRecovered', declareFaultsRecoveredParams, null),
  method(MinerMethod.OnDeferredCronEvent, 'OnDeferredCronEvent', deferredCronEventParams, null),
  method(13n, 'CheckSectorProven', checkSectorProvenParams, null),
  method(MinerMethod.ApplyRewards, 'ApplyRewards', applyRewardParams, null),
  method(15n, 'ReportConsensusFault', reportConsensusFaultParams, null),
  method(16n, 'WithdrawBalance', withdrawBalanceParams, tokenAmount),
  method(17n, 'ConfirmSectorProofsValid', confirmSectorProofsParams, null, { until: 13 }),
  method(17n, 'InternalSectorSetupForPreseal', internalSectorSetupForPresealParams, null, { from: 14 }),
  method(18n, 'ChangeMultiaddrs', changeMultiaddrsParams, null),
  method(19n, 'CompactPartitions', compactPartitionsParams, null),
  method(20n, 'CompactSectorNumbers', compactSectorNumbersParams, null),
  method(21n, 'ConfirmUpdateWorkerKey', null, null, { until: 9 }),
  method(21n, 'ConfirmChangeWorkerAddress', null, null, { from: 10 }),
  method(22n, 'RepayDebt', null, null),
  method(23n, 'ChangeOwnerAddress', address, null),
  method(24n, 'DisputeWindowedPoSt', disputeWindowedPoStParams, null),
  method(25n, 'PreCommitSectorBatch', preCommitSectorBatchParams, null, { retired: true }),
  method(26n, 'ProveCommitAggregate', proveCommitAggregateParams, null, { retired: true }),
  method(27n, 'ProveReplicaUpdates', proveReplicaUpdatesParams, bitField, { retired: true }),
  method(28n, 'PreCommitSectorBatch2', preCommitSectorBatchParams2, null),
  method(29n, 'ProveReplicaUpdates2', proveReplicaUpdatesParams2, bitField, { retired: true }),
  method(30n, 'ChangeBeneficiary', changeBeneficiaryParams, null),
  method(31n, 'GetBeneficiary', null, getBeneficiaryReturn),
  method(32n, 'ExtendSectorExpiration2', extendSectorExpiration2Params, null),
  method(34n, 'ProveCommitSectors3', proveCommitSectors3Params, batchReturn, { from: 13 }),
  method(35n, 'ProveReplicaUpdates3', proveReplicaUpdates3Params, batchReturn, { from: 13 }),
  method(36n, 'ProveCommitSectorsNI', proveCommitSectorsNIParams, null, { from: 14 }),
  method(348244887n, 'IsControllingAddressExported', address, bool, { from: 10 }),
  method(1010589339n, 'ChangeOwnerAddressExported', address, null, { from: 10 }),
  method(1063480576n, 'ChangeMultiaddrsExported', changeMultiaddrsParams, null, { from: 10 }),
  method(1236548004n, 'ChangePeerIDExported', changePeerIDParams, null, { from: 10 }),
  method(1321604665n, 'GenerateSectorLocationExported', generateSectorLocationParams, generateSectorLocationReturn, {
    from: 18,
  }),
  method(1332909407n, 'GetMultiaddrsExported', null, getMultiAddrsReturn, { from: 10 }),
  method(1570634796n, 'ChangeBeneficiaryExported', changeBeneficiaryParams, null, { from: 10 }),
  method(1726876304n, 'GetVestingFundsExported', null, vestingFundsBlock, { from: 10, until: 15 }),
  method(1726876304n, 'GetVestingFundsExported', null, vestingFunds, { from: 16 }),
  method(2280458852n, 'WithdrawBalanceExported', withdrawBalanceParams, tokenAmount, { from: 10 }),
  method(2354970453n, 'ConfirmChangeWorkerAddressExported', null, null, { from: 10 }),
  method(2812875329n, 'GetPeerIDExported', null, getPeerIDReturn, { from: 10 }),
  method(3010055991n, 'GetNominalSectorExpirationExported', sectorNumber, chainEpoch, { from: 18 }),
  method(3092458564n, 'ValidateSectorStatusExported', validateSectorStatusParams, bool, { from: 18 }),
  method(3180523767n, 'InitialPledgeExported', null, tokenAmount, { from: 16 }),
  method(3275365574n, 'GetOwnerExported', null, getOwnerReturn, { from: 10 }),
  method(3302309124n, 'ChangeWorkerAddressExported', changeWorkerAddressParams, null, { from: 10 }),
  method(3665352697n, 'RepayDebtExported', null, null, { from: 10 }),
  method(3858292296n, 'GetSectorSizeExported', null, sectorSize, { from: 10 }),
  method(4026106874n, 'GetAvailableBalanceExported', null, tokenAmount, { from: 10 }),
  method(4127382196n, 'MaxTerminationFeeExported', maxTerminationFeeParams, tokenAmount, { from: 16 }),
  method(4158972569n, 'GetBeneficiaryExported', null, getBeneficiaryReturn, { from: 10 }),
]
