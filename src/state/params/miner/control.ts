/** Whom a miner belongs to, who works for it and who is paid. @see go-state-types builtin/v9 … v18/miner */
import { bytes, type Codec, list, nullable, tuple } from '../../../codec/description.ts'
import { type Address, address } from '../../../types/address.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../../../types/scalars.ts'
import {
  type BeneficiaryTerm,
  beneficiaryTerm,
  type PendingBeneficiaryChange,
  pendingBeneficiaryChange,
} from '../../miner.ts'

export interface GetControlAddressesReturn {
  readonly owner: Address
  readonly worker: Address
  readonly controlAddrs: Address[]
}

export const getControlAddressesReturn: Codec<GetControlAddressesReturn> = tuple<GetControlAddressesReturn>(
  'miner.GetControlAddressesReturn',
  [
    ['owner', 'Owner', address],
    ['worker', 'Worker', address],
    ['controlAddrs', 'ControlAddrs', list(address)],
  ],
)

export interface ChangeWorkerAddressParams {
  readonly newWorker: Address
  readonly newControlAddrs: Address[]
}

export const changeWorkerAddressParams: Codec<ChangeWorkerAddressParams> = tuple<ChangeWorkerAddressParams>(
  'miner.ChangeWorkerAddressParams',
  [
    ['newWorker', 'NewWorker', address],
    ['newControlAddrs', 'NewControlAddrs', list(address)],
  ],
)

export interface ChangePeerIDParams {
  readonly newId: Uint8Array
}

export const changePeerIDParams: Codec<ChangePeerIDParams> = tuple<ChangePeerIDParams>('miner.ChangePeerIDParams', [
  ['newId', 'NewID', bytes],
])

export interface WithdrawBalanceParams {
  readonly amountRequested: TokenAmount
}

export const withdrawBalanceParams: Codec<WithdrawBalanceParams> = tuple<WithdrawBalanceParams>(
  'miner.WithdrawBalanceParams',
  [['amountRequested', 'AmountRequested', tokenAmount]],
)

export interface ChangeMultiaddrsParams {
  readonly newMultiaddrs: Uint8Array[]
}

export const changeMultiaddrsParams: Codec<ChangeMultiaddrsParams> = tuple<ChangeMultiaddrsParams>(
  'miner.ChangeMultiaddrsParams',
  [['newMultiaddrs', 'NewMultiaddrs', list(bytes)]],
)

export interface ChangeBeneficiaryParams {
  readonly newBeneficiary: Address
  readonly newQuota: TokenAmount
  readonly newExpiration: ChainEpoch
}

export const changeBeneficiaryParams: Codec<ChangeBeneficiaryParams> = tuple<ChangeBeneficiaryParams>(
  'miner.ChangeBeneficiaryParams',
  [
    ['newBeneficiary', 'NewBeneficiary', address],
    ['newQuota', 'NewQuota', tokenAmount],
    ['newExpiration', 'NewExpiration', chainEpoch],
  ],
)

export interface ActiveBeneficiary {
  readonly beneficiary: Address
  readonly term: BeneficiaryTerm
}

export const activeBeneficiary: Codec<ActiveBeneficiary> = tuple<ActiveBeneficiary>('miner.ActiveBeneficiary', [
  ['beneficiary', 'Beneficiary', address],
  ['term', 'Term', beneficiaryTerm],
])

export interface GetBeneficiaryReturn {
  readonly active: ActiveBeneficiary
  readonly proposed: PendingBeneficiaryChange | null
}

export const getBeneficiaryReturn: Codec<GetBeneficiaryReturn> = tuple<GetBeneficiaryReturn>(
  'miner.GetBeneficiaryReturn',
  [
    ['active', 'Active', activeBeneficiary],
    ['proposed', 'Proposed', nullable(pendingBeneficiaryChange)],
  ],
)

export interface GetOwnerReturn {
  readonly owner: Address
  readonly proposed: Address | null
}

export const getOwnerReturn: Codec<GetOwnerReturn> = tuple<GetOwnerReturn>('miner.GetOwnerReturn', [
  ['owner', 'Owner', address],
  ['proposed', 'Proposed', nullable(address)],
])

export interface GetPeerIDReturn {
  readonly peerId: Uint8Array
}

export const getPeerIDReturn: Codec<GetPeerIDReturn> = tuple<GetPeerIDReturn>('miner.GetPeerIDReturn', [
  ['peerId', 'PeerId', bytes],
])

export interface GetMultiAddrsReturn {
  readonly multiAddrs: Uint8Array
}

export const getMultiAddrsReturn: Codec<GetMultiAddrsReturn> = tuple<GetMultiAddrsReturn>('miner.GetMultiAddrsReturn', [
  ['multiAddrs', 'MultiAddrs', bytes],
])
