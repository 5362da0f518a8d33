/**
 * All methods of the miner actor, by number.
 * @see builtin-actors v18 actors/miner/src/lib.rs Method
 */
import type { MethodNum } from '../../types/scalars.ts'
import { methodNumber } from '../frc42.ts'

const INTERNAL: readonly (readonly [bigint, string])[] = [
  [1n, 'Constructor'],
  [2n, 'ControlAddresses'],
  [3n, 'ChangeWorkerAddress'],
  [4n, 'ChangePeerID'],
  [5n, 'SubmitWindowedPoSt'],
  [9n, 'TerminateSectors'],
  [10n, 'DeclareFaults'],
  [11n, 'DeclareFaultsRecovered'],
  [12n, 'OnDeferredCronEvent'],
  [13n, 'CheckSectorProven'],
  [14n, 'ApplyRewards'],
  [15n, 'ReportConsensusFault'],
  [16n, 'WithdrawBalance'],
  [17n, 'InternalSectorSetupForPreseal'],
  [18n, 'ChangeMultiaddrs'],
  [19n, 'CompactPartitions'],
  [20n, 'CompactSectorNumbers'],
  [21n, 'ConfirmChangeWorkerAddress'],
  [22n, 'RepayDebt'],
  [23n, 'ChangeOwnerAddress'],
  [24n, 'DisputeWindowedPoSt'],
  [28n, 'PreCommitSectorBatch2'],
  [30n, 'ChangeBeneficiary'],
  [31n, 'GetBeneficiary'],
  [32n, 'ExtendSectorExpiration2'],
  [34n, 'ProveCommitSectors3'],
  [35n, 'ProveReplicaUpdates3'],
  [36n, 'ProveCommitSectorsNI'],
]

const EXPORTED: readonly string[] = [
  'ChangeWorkerAddress',
  'ChangePeerID',
  'WithdrawBalance',
  'ChangeMultiaddrs',
  'ConfirmChangeWorkerAddress',
  'RepayDebt',
  'ChangeOwnerAddress',
  'ChangeBeneficiary',
  'GetBeneficiary',
  'GetOwner',
  'IsControllingAddress',
  'GetSectorSize',
  'GetAvailableBalance',
  'GetVestingFunds',
  'GetPeerID',
  'GetMultiaddrs',
  'MaxTerminationFee',
  'InitialPledge',
  'GenerateSectorLocation',
  'ValidateSectorStatus',
  'GetNominalSectorExpiration',
]

/** Method number to name. */
export function minerMethodNames(): Map<MethodNum, string> {
  return methodTable(INTERNAL, EXPORTED)
}

/** Numbers with their names; exported methods get theirs from the name. */
export function methodTable(
  internal: readonly (readonly [bigint, string])[],
  exported: readonly string[],
): Map<MethodNum, string> {
  const out = new Map<MethodNum, string>(internal)
  for (const name of exported) out.set(methodNumber(name), name)
  return out
}
