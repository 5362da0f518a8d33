/** Whom a miner belongs to, who works for it and who is paid. @see go-state-types builtin/v9 … v18/miner */
import { bytes, type Codec, list, nullable, tuple } from '../../../codec/description.ts'
import { type Address, address } from '../../../types/address.ts'
import { type ChosenEpoch, chosenEpoch, type TokenAmount, tokenAmount } from '../../../types/scalars.ts'
import {
  type BeneficiaryTerm,
  beneficiaryTerm,
  type PendingBeneficiaryChange,
  pendingBeneficiaryChange,
} from '../../miner.ts'

/** Owner, worker and the others that may send a miner's messages, as ID addresses. */
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

interface ChangeWorkerAddressParams {
  readonly newWorker: Address
  readonly newControlAddrs: Address[]
}

/** The new worker takes over 900 epochs after, control addresses at once. By the owner. */
export const changeWorkerAddressParams: Codec<ChangeWorkerAddressParams> = tuple<ChangeWorkerAddressParams>(
  'miner.ChangeWorkerAddressParams',
  [
    ['newWorker', 'NewWorker', address],
    ['newControlAddrs', 'NewControlAddrs', list(address)],
  ],
)

interface ChangePeerIDParams {
  readonly newId: Uint8Array
}

/** `[newId]`: a libp2p peer ID in bytes. */
export const changePeerIDParams: Codec<ChangePeerIDParams> = tuple<ChangePeerIDParams>('miner.ChangePeerIDParams', [
  ['newId', 'NewID', bytes],
])

interface WithdrawBalanceParams {
  readonly amountRequested: TokenAmount
}

/** What is neither locked nor owed may go to the beneficiary, attoFIL; asked for more, as much as there is. */
export const withdrawBalanceParams: Codec<WithdrawBalanceParams> = tuple<WithdrawBalanceParams>(
  'miner.WithdrawBalanceParams',
  [['amountRequested', 'AmountRequested', tokenAmount]],
)

interface ChangeMultiaddrsParams {
  readonly newMultiaddrs: Uint8Array[]
}

/** `[newMultiaddrs]`: each in multiaddr's bytes. */
export const changeMultiaddrsParams: Codec<ChangeMultiaddrsParams> = tuple<ChangeMultiaddrsParams>(
  'miner.ChangeMultiaddrsParams',
  [['newMultiaddrs', 'NewMultiaddrs', list(bytes)]],
)

interface ChangeBeneficiaryParams {
  readonly newBeneficiary: Address
  readonly newQuota: TokenAmount
  readonly newExpiration: ChosenEpoch
}

/** Who is paid, up to how many attoFIL and until which epoch. Counts once owner and both beneficiaries agree. */
export const changeBeneficiaryParams: Codec<ChangeBeneficiaryParams> = tuple<ChangeBeneficiaryParams>(
  'miner.ChangeBeneficiaryParams',
  [
    ['newBeneficiary', 'NewBeneficiary', address],
    ['newQuota', 'NewQuota', tokenAmount],
    ['newExpiration', 'NewExpiration', chosenEpoch],
  ],
)

interface ActiveBeneficiary {
  readonly beneficiary: Address
  readonly term: BeneficiaryTerm
}

const activeBeneficiary: Codec<ActiveBeneficiary> = tuple<ActiveBeneficiary>('miner.ActiveBeneficiary', [
  ['beneficiary', 'Beneficiary', address],
  ['term', 'Term', beneficiaryTerm],
])

interface GetBeneficiaryReturn {
  readonly active: ActiveBeneficiary
  readonly proposed: PendingBeneficiaryChange | null
}

/** Who is paid now with quota (attoFIL) and expiration (epoch), and the change that waits for approval. */
export const getBeneficiaryReturn: Codec<GetBeneficiaryReturn> = tuple<GetBeneficiaryReturn>(
  'miner.GetBeneficiaryReturn',
  [
    ['active', 'Active', activeBeneficiary],
    ['proposed', 'Proposed', nullable(pendingBeneficiaryChange)],
  ],
)

interface GetOwnerReturn {
  readonly owner: Address
  readonly proposed: Address | null
}

/** The owner, and the one that has been proposed but has not accepted; ID addresses. */
export const getOwnerReturn: Codec<GetOwnerReturn> = tuple<GetOwnerReturn>('miner.GetOwnerReturn', [
  ['owner', 'Owner', address],
  ['proposed', 'Proposed', nullable(address)],
])

interface GetPeerIDReturn {
  readonly peerId: Uint8Array
}

/** `[peerId]`: bytes, empty where the miner named none. */
export const getPeerIDReturn: Codec<GetPeerIDReturn> = tuple<GetPeerIDReturn>('miner.GetPeerIDReturn', [
  ['peerId', 'PeerId', bytes],
])

interface GetMultiAddrsReturn {
  readonly multiAddrs: Uint8Array
}

/** Bytes, as go-state-types has it; the actors return a list of byte strings. */
export const getMultiAddrsReturn: Codec<GetMultiAddrsReturn> = tuple<GetMultiAddrsReturn>('miner.GetMultiAddrsReturn', [
  ['multiAddrs', 'MultiAddrs', bytes],
])
