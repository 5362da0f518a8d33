/** The methods that the monitor asks: a page carries their codecs and nothing else of the node. */

import type { RpcClient } from '../../../src/rpc/client/client.ts'
import {
  chainGetMessage,
  chainGetMessagesInTipset,
  chainGetTipSet,
  chainNotify,
} from '../../../src/rpc/signatures/chain.ts'
import { version } from '../../../src/rpc/signatures/common.ts'
import { devnetAccounts } from '../../../src/rpc/signatures/devnet.ts'
import { lightStatus } from '../../../src/rpc/signatures/light.ts'
import { mpoolPending, mpoolSub } from '../../../src/rpc/signatures/mpool.ts'
import { netPeers } from '../../../src/rpc/signatures/net.ts'
import { stateSearchMsg } from '../../../src/rpc/signatures/search.ts'
import { stateGetActor, stateLookupID, stateNetworkName } from '../../../src/rpc/signatures/state.ts'
import { syncPresumed } from '../../../src/rpc/signatures/sync.ts'
import { chainGetTransfersSince } from '../../../src/rpc/signatures/transfers.ts'

export const MONITOR_METHODS = {
  Version: version,
  StateNetworkName: stateNetworkName,
  ChainNotify: chainNotify,
  ChainGetTipSet: chainGetTipSet,
  ChainGetMessagesInTipset: chainGetMessagesInTipset,
  ChainGetMessage: chainGetMessage,
  MpoolPending: mpoolPending,
  MpoolSub: mpoolSub,
  StateGetActor: stateGetActor,
  StateLookupID: stateLookupID,
  StateSearchMsg: stateSearchMsg,
  ChainGetTransfersSince: chainGetTransfersSince,
  NetPeers: netPeers,
  SyncPresumed: syncPresumed,
  DevnetAccounts: devnetAccounts,
  LightStatus: lightStatus,
} as const

/** The node as the monitor sees it. */
export type MonitorNode = RpcClient<typeof MONITOR_METHODS>
