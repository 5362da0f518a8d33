/**
 * Parameters of the miner actor's methods that other actors call.
 * @see builtin-actors v18 actors/miner/src/types.rs
 */
import { bytesOrEmpty as bytes, type Codec, int, list, tuple } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'

export interface ApplyRewardParams {
  readonly reward: TokenAmount
  readonly penalty: TokenAmount
}

export const applyRewardParams: Codec<ApplyRewardParams> = tuple<ApplyRewardParams>('miner.ApplyRewardParams', [
  ['reward', 'Reward', tokenAmount],
  ['penalty', 'Penalty', tokenAmount],
])

export interface MinerConstructorParams {
  readonly owner: Address
  readonly worker: Address
  readonly controlAddresses: Address[]
  /** Registered window PoSt proof. */
  readonly windowPoStProofType: number
  readonly peerId: Uint8Array
  readonly multiaddrs: Uint8Array[]
}

export const minerConstructorParams: Codec<MinerConstructorParams> = tuple<MinerConstructorParams>(
  'miner.MinerConstructorParams',
  [
    ['owner', 'OwnerAddr', address],
    ['worker', 'WorkerAddr', address],
    ['controlAddresses', 'ControlAddrs', list(address)],
    ['windowPoStProofType', 'WindowPoStProofType', int],
    ['peerId', 'PeerId', bytes],
    ['multiaddrs', 'Multiaddrs', list(bytes)],
  ],
)
