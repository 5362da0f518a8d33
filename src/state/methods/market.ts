import { bool, int, list } from '../../codec/description.ts'
import { bitField } from '../../ipld/bitfield.ts'
import { address } from '../../types/address.ts'
import { MarketMethod, METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { tokenAmount } from '../../types/scalars.ts'
import { dealLabel } from '../market.ts'
import {
  activateDealsParams,
  batchActivateDealsParams,
  computeDataCommitmentParams,
  computeDataCommitmentReturn,
  getBalanceReturn,
  getDealActivationReturn,
  getDealDataCommitmentReturn,
  getDealTermReturn,
  onMinerSectorsTerminateParams,
  publishStorageDealsParams,
  publishStorageDealsReturn,
  settleDealPaymentsReturn,
  verifyDealsForActivationParams,
  verifyDealsForActivationParamsUpToV11,
  verifyDealsForActivationReturn,
  verifyDealsForActivationReturnUpToV11,
  withdrawBalanceParams,
} from '../params/market.ts'
import { sectorChanges } from '../params/miner/pieces.ts'
import { sectorNumber } from '../scalars.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the market actor. @see go-state-types builtin/v9 … v18/market/methods.go */
export const marketMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', null, null),
  method(2n, 'AddBalance', address, null),
  method(3n, 'WithdrawBalance', withdrawBalanceParams, tokenAmount),
  method(4n, 'PublishStorageDeals', publishStorageDealsParams, publishStorageDealsReturn),
  method(5n, 'VerifyDealsForActivation', verifyDealsForActivationParamsUpToV11, verifyDealsForActivationReturnUpToV11, {
    until: 11,
  }),
  method(5n, 'VerifyDealsForActivation', verifyDealsForActivationParams, verifyDealsForActivationReturn, { from: 12 }),
  method(6n, 'ActivateDeals', activateDealsParams, null, { until: 11 }),
  method(6n, 'BatchActivateDeals', batchActivateDealsParams, null, { from: 12 }),
  method(7n, 'OnMinerSectorsTerminate', onMinerSectorsTerminateParams, null),
  method(8n, 'ComputeDataCommitment', computeDataCommitmentParams, computeDataCommitmentReturn, { until: 11 }),
  method(MarketMethod.CronTick, 'CronTick', null, null),
  method(46363526n, 'GetDealLabelExported', int, dealLabel, { from: 10 }),
  method(128053329n, 'GetDealClientExported', int, int, { from: 10 }),
  method(163777312n, 'GetDealTermExported', int, getDealTermReturn, { from: 10 }),
  method(200567895n, 'GetDealClientCollateralExported', int, tokenAmount, { from: 10 }),
  method(726108461n, 'GetBalanceExported', address, getBalanceReturn, { from: 10 }),
  method(822473126n, 'AddBalanceExported', address, null, { from: 10 }),
  method(935081690n, 'GetDealProviderExported', int, int, { from: 10 }),
  method(1157985802n, 'GetDealDataCommitmentExported', int, getDealDataCommitmentReturn, { from: 10 }),
  method(1900091594n, 'SettleDealPaymentsExported', bitField, settleDealPaymentsReturn, { from: 13 }),
  method(2034386435n, 'SectorContentChanged', list(sectorChanges), list(list(bool)), { from: 13 }),
  method(2236929350n, 'PublishStorageDealsExported', publishStorageDealsParams, publishStorageDealsReturn, {
    from: 10,
  }),
  method(2280458852n, 'WithdrawBalanceExported', withdrawBalanceParams, tokenAmount, { from: 10 }),
  method(2567238399n, 'GetDealActivationExported', int, getDealActivationReturn, { from: 10 }),
  method(2611213344n, 'GetDealSectorExported', int, sectorNumber, { from: 13 }),
  method(2627389465n, 'GetDealVerifiedExported', int, bool, { from: 10 }),
  method(2986712137n, 'GetDealProviderCollateralExported', int, tokenAmount, { from: 10 }),
  method(4287162428n, 'GetDealTotalPriceExported', int, tokenAmount, { from: 10 }),
]
