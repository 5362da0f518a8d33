/**
 * What programs import from the package `petrel`: a typed client of any node, and what its answers are made of. In Node, Deno
 * and pages. (A node in a page: `petrel/browser`.)
 *
 *     import { chainHead, createClient, fetchPost, httpTransport } from 'petrel'
 *
 *     const node = createClient(httpTransport(fetchPost(fetch, 'http://127.0.0.1:1234/rpc/v1')), { ChainHead: chainHead })
 *     const { height } = await node.ChainHead()
 */
export { fromHex, toHex } from '../../src/base/bytes.ts'
export * from '../../src/base/errors.ts'
export { revertReason } from '../../src/chain/executionReverted.ts'
export type { HeadChange } from '../../src/chain/headChange.ts'
export { bigIntBytes } from '../../src/codec/bigInteger.ts'
export { CborWriter } from '../../src/codec/cborWriter.ts'
export { Cid, cidFromBytes, createCid, parseCid } from '../../src/codec/cid.ts'
export { type Codec, cid, decode, encode, type Json, type JsonContext, json } from '../../src/codec/description.ts'
export {
  EC_FINALITY_GUARANTEE,
  EC_FINALITY_WINDOW,
  finalityDepth,
  reorgProbability,
} from '../../src/consensus/ecFinality.ts'
export { chainHead as certificateHead } from '../../src/consensus/f3/certificate.ts'
export type { HeldUp } from '../../src/mempool/explainMessage.ts'
export type { MempoolUpdate } from '../../src/mempool/pendingMessages.ts'
export * from '../../src/rpc/client/client.ts'
export * from '../../src/rpc/client/errors.ts'
export {
  type FetchLike,
  fetchPost,
  type HttpAnswer,
  httpTransport,
  type Post,
} from '../../src/rpc/client/httpTransport.ts'
export type { ChannelListener, RpcTransport } from '../../src/rpc/client/transport.ts'
export { openWebSocket, type WebSocketLike } from '../../src/rpc/client/webSocketTransport.ts'
export { param } from '../../src/rpc/method.ts'
export { callSignature } from '../../src/rpc/signature.ts'
export * from '../../src/rpc/signatures/actorEvents.ts'
export * from '../../src/rpc/signatures/auth.ts'
export * from '../../src/rpc/signatures/chain.ts'
export * from '../../src/rpc/signatures/chainExport.ts'
export * from '../../src/rpc/signatures/common.ts'
export * from '../../src/rpc/signatures/devnet.ts'
export * from '../../src/rpc/signatures/eth.ts'
export * from '../../src/rpc/signatures/ethAccounts.ts'
export * from '../../src/rpc/signatures/ethAddress.ts'
export * from '../../src/rpc/signatures/ethBasic.ts'
export * from '../../src/rpc/signatures/ethEvents.ts'
export * from '../../src/rpc/signatures/ethFilters.ts'
export * from '../../src/rpc/signatures/ethGas.ts'
export * from '../../src/rpc/signatures/ethSend.ts'
export * from '../../src/rpc/signatures/ethSubscribe.ts'
export * from '../../src/rpc/signatures/ethSyncing.ts'
export * from '../../src/rpc/signatures/ethTrace.ts'
export * from '../../src/rpc/signatures/ethTransactions.ts'
export * from '../../src/rpc/signatures/execution.ts'
export * from '../../src/rpc/signatures/f3.ts'
export * from '../../src/rpc/signatures/finality.ts'
export * from '../../src/rpc/signatures/gas.ts'
export * from '../../src/rpc/signatures/history.ts'
export * from '../../src/rpc/signatures/light.ts'
export * from '../../src/rpc/signatures/market.ts'
export * from '../../src/rpc/signatures/miner.ts'
export * from '../../src/rpc/signatures/mpool.ts'
export * from '../../src/rpc/signatures/mpoolExplain.ts'
export * from '../../src/rpc/signatures/multisig.ts'
export * from '../../src/rpc/signatures/net.ts'
export * from '../../src/rpc/signatures/network.ts'
export * from '../../src/rpc/signatures/node.ts'
export * from '../../src/rpc/signatures/objects.ts'
export * from '../../src/rpc/signatures/params.ts'
export * from '../../src/rpc/signatures/paych.ts'
export * from '../../src/rpc/signatures/registry.ts'
export * from '../../src/rpc/signatures/search.ts'
export * from '../../src/rpc/signatures/sectors.ts'
export * from '../../src/rpc/signatures/state.ts'
export * from '../../src/rpc/signatures/sync.ts'
export * from '../../src/rpc/signatures/transfers.ts'
export * from '../../src/rpc/signatures/wallet.ts'
export type { AddrInfo } from '../../src/rpc/types/peerId.ts'
export { type ActiveSync, SYNC_STAGE, type SyncState } from '../../src/sync/syncState.ts'
export type { AddressedTransfers } from '../../src/transfers/tipsetTransfers.ts'
export type { Transfer, TransferKind } from '../../src/transfers/transfer.ts'
export { Address, addressFromBytes, delegatedAddress, idAddress, parseAddress } from '../../src/types/address.ts'
export { type BlockHeader, blockHeader, headerCid } from '../../src/types/blockHeader.ts'
export { addressToEthAddress, ethAddressToAddress, parseEthAddress } from '../../src/types/ethAddress.ts'
export { filNumber, formatFil, parseFil } from '../../src/types/fil.ts'
export { type Message, message, messageCid } from '../../src/types/message.ts'
export type { ActorId, ChainEpoch, TokenAmount } from '../../src/types/scalars.ts'
export { type SignedMessage, signedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
export {
  equalTipsetKeys,
  firstBlock,
  type Tipset,
  type TipsetKey,
  tipset,
  tipsetKey,
  tipsetKeyText,
} from '../../src/types/tipset.ts'
