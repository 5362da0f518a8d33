/** The methods that the monitor asks: a page carries their codecs and nothing else of the node. */
import { cid, json } from '../../../src/codec/description.ts'
import type { RpcClient } from '../../../src/rpc/client/client.ts'
import { param } from '../../../src/rpc/method.ts'
import { callSignature } from '../../../src/rpc/signature.ts'
import {
  chainGetBlock,
  chainGetBlockMessages,
  chainGetGenesis,
  chainGetMessage,
  chainGetMessagesInTipset,
  chainGetTipSet,
  chainGetTipSetByHeight,
  chainNotify,
} from '../../../src/rpc/signatures/chain.ts'
import { version } from '../../../src/rpc/signatures/common.ts'
import { devnetAccounts } from '../../../src/rpc/signatures/devnet.ts'
import { ethGetMessageCidByTransactionHash } from '../../../src/rpc/signatures/ethTransactions.ts'
import { f3GetLatestCertificate } from '../../../src/rpc/signatures/f3.ts'
import { lightStatus } from '../../../src/rpc/signatures/light.ts'
import { mpoolPending, mpoolSub } from '../../../src/rpc/signatures/mpool.ts'
import { mpoolExplain } from '../../../src/rpc/signatures/mpoolExplain.ts'
import { netPeers } from '../../../src/rpc/signatures/net.ts'
import { stateSearchMsg } from '../../../src/rpc/signatures/search.ts'
import {
  stateActorCodeCIDs,
  stateGetActor,
  stateLookupID,
  stateLookupRobustAddress,
  stateNetworkName,
  stateNetworkVersion,
} from '../../../src/rpc/signatures/state.ts'
import { syncPresumed, syncState } from '../../../src/rpc/signatures/sync.ts'
import { chainGetTransfers, chainGetTransfersSince } from '../../../src/rpc/signatures/transfers.ts'
import { tipsetKey } from '../../../src/types/tipset.ts'

/** The node's own row only writes the answer; `callTree.ts` reads what is shown of it. */
const stateReplay = callSignature({
  name: 'StateReplay',
  perm: 'read',
  summary: 'Executes a message of the chain again, with its trace.',
  params: [param('tipsetKey', tipsetKey), param('messageCid', cid)],
  result: json,
})

export const MONITOR_METHODS = {
  Version: version,
  StateNetworkName: stateNetworkName,
  StateNetworkVersion: stateNetworkVersion,
  ChainNotify: chainNotify,
  ChainGetGenesis: chainGetGenesis,
  ChainGetTipSet: chainGetTipSet,
  ChainGetTipSetByHeight: chainGetTipSetByHeight,
  ChainGetBlock: chainGetBlock,
  ChainGetBlockMessages: chainGetBlockMessages,
  ChainGetMessagesInTipset: chainGetMessagesInTipset,
  ChainGetMessage: chainGetMessage,
  MpoolPending: mpoolPending,
  MpoolSub: mpoolSub,
  MpoolExplain: mpoolExplain,
  StateGetActor: stateGetActor,
  StateLookupID: stateLookupID,
  StateLookupRobustAddress: stateLookupRobustAddress,
  StateActorCodeCIDs: stateActorCodeCIDs,
  StateSearchMsg: stateSearchMsg,
  StateReplay: stateReplay,
  EthGetMessageCidByTransactionHash: ethGetMessageCidByTransactionHash,
  ChainGetTransfers: chainGetTransfers,
  ChainGetTransfersSince: chainGetTransfersSince,
  F3GetLatestCertificate: f3GetLatestCertificate,
  NetPeers: netPeers,
  SyncState: syncState,
  SyncPresumed: syncPresumed,
  DevnetAccounts: devnetAccounts,
  LightStatus: lightStatus,
} as const

/** The node as the monitor sees it. */
export type MonitorNode = RpcClient<typeof MONITOR_METHODS>
