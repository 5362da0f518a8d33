/**
 * JSON types of the methods that the command line calls, by path. Written by scripts/cliMethods.ts out of src/rpc/signatures;
 * a test compares.
 */
import type { Json } from '../../src/codec/jsonText.ts'

/** A CID as text below the key `/`, as DAG-JSON links. */
export type JsonCid = { readonly '/': string }

/** `alerting.Alert` of LogAlerts. */
export type AlertingAlert = {
  readonly Type: AlertingAlertType
  readonly Active: boolean
  readonly LastActive: Json
  readonly LastResolved: Json
}

/** `alerting.AlertType` of LogAlerts. */
export type AlertingAlertType = {
  readonly System: string
  readonly Subsystem: string
}

/** `api.APIVersion` of Version. */
export type ApiAPIVersion = {
  readonly Version: string
  readonly APIVersion: number
  readonly BlockDelay: number
  readonly Agent: string
}

/** `api.ActiveSync` of SyncState. */
export type ApiActiveSync = {
  readonly WorkerID: number
  readonly Base: TypesTipSet | null
  readonly Target: TypesTipSet | null
  readonly Stage: number
  readonly Height: number
  readonly Start: string
  readonly End: string
  readonly Message: string
}

/** `api.ActorState` of StateReadState. */
export type ApiActorState = {
  readonly Balance: string
  readonly Code: JsonCid
  readonly State: Json
}

/** `api.BlockMessages` of ChainGetBlockMessages. */
export type ApiBlockMessages = {
  readonly BlsMessages: TypesMessage[]
  readonly SecpkMessages: TypesSignedMessage[]
  readonly Cids: JsonCid[]
}

/** `api.ChannelAvailableFunds` of PaychAvailableFunds, PaychAvailableFundsByFromTo. */
export type ApiChannelAvailableFunds = {
  readonly Channel: string | null
  readonly From: string
  readonly To: string
  readonly ConfirmedAmt: string
  readonly PendingAmt: string
  readonly NonReservedAmt: string
  readonly PendingAvailableAmt: string
  readonly PendingWaitSentinel: JsonCid | null
  readonly QueuedAmt: string
  readonly VoucherReedeemedAmt: string
}

/** `api.ChannelInfo` of PaychFund, PaychGet. */
export type ApiChannelInfo = {
  readonly Channel: string
  readonly WaitSentinel: JsonCid | null
}

/** `api.CirculatingSupply` of StateVMCirculatingSupplyInternal. */
export type ApiCirculatingSupply = {
  readonly FilVested: string
  readonly FilMined: string
  readonly FilBurnt: string
  readonly FilLocked: string
  readonly FilCirculating: string
  readonly FilReserveDisbursed: string
}

/** `api.ComputeStateOutput` of StateCompute. */
export type ApiComputeStateOutput = {
  readonly Root: JsonCid
  readonly Trace: ApiInvocResult[] | null
}

/** `api.ConnMgrInfo` of NetPeerInfo. */
export type ApiConnMgrInfo = {
  readonly FirstSeen: string
  readonly Value: number
  readonly Tags: { readonly [key: string]: number }
  readonly Conns: { readonly [key: string]: string }
}

/** `api.ExtendedPeerInfo` of NetPeerInfo. */
export type ApiExtendedPeerInfo = {
  readonly ID: string
  readonly Agent: string
  readonly Addrs: string[] | null
  readonly Protocols: string[]
  readonly ConnMgrMeta: ApiConnMgrInfo | null
}

/** `api.HeadChange` of ChainNotify. */
export type ApiHeadChange = {
  readonly Type: 'current' | 'revert' | 'apply'
  readonly Val: TypesTipSet
}

/** `api.InvocResult` of StateCall, StateCompute, StateReplay. */
export type ApiInvocResult = {
  readonly MsgCid: JsonCid
  readonly Msg: TypesMessage
  readonly MsgRct: TypesMessageReceipt
  readonly GasCost: ApiMsgGasCost
  readonly ExecutionTrace: { readonly [key: string]: Json }
  readonly Error: string
  readonly Duration: number
}

/** `api.IpldObject` of ChainGetNode. */
export type ApiIpldObject = {
  readonly Cid: JsonCid
  readonly Obj: Json
}

/** `api.MarketBalance` of StateMarketBalance. */
export type ApiMarketBalance = {
  readonly Escrow: string
  readonly Locked: string
}

/** `api.Message` of ChainGetParentMessages. */
export type ApiMessage = {
  readonly Cid: JsonCid
  readonly Message: TypesMessage
}

/** `api.MessageCheckStatus` of MpoolCheckMessages, MpoolCheckPendingMessages. */
export type ApiMessageCheckStatus = {
  readonly Cid: JsonCid
  readonly Code: number
  readonly OK: boolean
  readonly Err: string
  readonly Hint: Json
}

/** `api.MessageMatch` of StateListMessages. */
export type ApiMessageMatch = {
  readonly To: string
  readonly From: string
}

/** `api.MessagePrototype` of MpoolCheckMessages, MsigAddApprove, MsigAddCancel and more. */
export type ApiMessagePrototype = {
  readonly Message: TypesMessage
  readonly ValidNonce: boolean
}

/** `api.MessageSendSpec` of GasEstimateMessageGas, MpoolPushMessage. */
export type ApiMessageSendSpec = {
  readonly MaxFee: string
  readonly MsgUuid: string
  readonly MaximizeFeeCap: boolean
  readonly GasLimitOverestimation: number
}

/** `api.MinerInfo` of StateMinerInfo. */
export type ApiMinerInfo = {
  readonly Owner: string
  readonly Worker: string
  readonly NewWorker: string
  readonly ControlAddresses: string[] | null
  readonly WorkerChangeEpoch: number
  readonly PeerId: string | null
  readonly Multiaddrs: (string | null)[] | null
  readonly WindowPoStProofType: number
  readonly SectorSize: number
  readonly WindowPoStPartitionSectors: number
  readonly ConsensusFaultElapsed: number
  readonly PendingOwnerAddress: string | null
  readonly Beneficiary: string
  readonly BeneficiaryTerm: MinerBeneficiaryTerm | null
  readonly PendingBeneficiaryTerm: MinerPendingBeneficiaryChange | null
}

/** `api.MinerPower` of StateMinerPower. */
export type ApiMinerPower = {
  readonly MinerPower: PowerClaim
  readonly TotalPower: PowerClaim
  readonly HasMinPower: boolean
}

/** `api.MpoolUpdate` of MpoolSub. */
export type ApiMpoolUpdate = {
  readonly Type: number
  readonly Message: TypesSignedMessage
}

/** `api.MsgGasCost` of StateCall, StateCompute, StateReplay. */
export type ApiMsgGasCost = {
  readonly Message: JsonCid | null
  readonly GasUsed: string
  readonly BaseFeeBurn: string
  readonly OverEstimationBurn: string
  readonly MinerPenalty: string
  readonly MinerTip: string
  readonly Refund: string
  readonly TotalCost: string
}

/** `api.MsgLookup` of StateSearchMsg, StateWaitMsg. */
export type ApiMsgLookup = {
  readonly Message: JsonCid
  readonly Receipt: TypesMessageReceipt
  readonly ReturnDec: Json
  readonly TipSet: JsonCid[]
  readonly Height: number
}

/** `api.MsigTransaction` of MsigGetPending. */
export type ApiMsigTransaction = {
  readonly ID: number
  readonly To: string
  readonly Value: string
  readonly Method: number
  readonly Params: string | null
  readonly Approved: string[] | null
}

/** `api.NatInfo` of NetAutoNatStatus. */
export type ApiNatInfo = {
  readonly Reachability: number
  readonly PublicAddrs: string[] | null
}

/** `api.NetBlockList` of NetBlockAdd, NetBlockList, NetBlockRemove. */
export type ApiNetBlockList = {
  readonly Peers: string[]
  readonly IPAddrs: string[] | null
  readonly IPSubnets: string[] | null
}

/** `api.NetLimit` of NetLimit, NetSetLimit. */
export type ApiNetLimit = {
  readonly Memory: number
  readonly Streams: number
  readonly StreamsInbound: number
  readonly StreamsOutbound: number
  readonly Conns: number
  readonly ConnsInbound: number
  readonly ConnsOutbound: number
  readonly FD: number
}

/** `api.NodeChainStatus` of NodeStatus. */
export type ApiNodeChainStatus = {
  readonly BlocksPerTipsetLast100: number
  readonly BlocksPerTipsetLastFinality: number
}

/** `api.NodePeerStatus` of NodeStatus. */
export type ApiNodePeerStatus = {
  readonly PeersToPublishMsgs: number
  readonly PeersToPublishBlocks: number
}

/** `api.NodeStatus` of NodeStatus. */
export type ApiNodeStatus = {
  readonly SyncStatus: ApiNodeSyncStatus
  readonly PeerStatus: ApiNodePeerStatus
  readonly ChainStatus: ApiNodeChainStatus
}

/** `api.NodeSyncStatus` of NodeStatus. */
export type ApiNodeSyncStatus = {
  readonly Epoch: number
  readonly Behind: number
}

/** `api.ObjStat` of ChainStatObj. */
export type ApiObjStat = {
  readonly Size: number
  readonly Links: number
}

/** `api.PaychGetOpts` of PaychGet. */
export type ApiPaychGetOpts = {
  readonly OffChain: boolean
}

/** `api.PubsubScore` of NetPubsubScores. */
export type ApiPubsubScore = {
  readonly ID: string
  readonly Score: PubsubPeerScoreSnapshot | null
}

/** `api.SyncState` of SyncState. */
export type ApiSyncState = {
  readonly ActiveSyncs: ApiActiveSync[] | null
  readonly VMApplied: number
}

/** `api.VoucherCreateResult` of PaychVoucherCreate. */
export type ApiVoucherCreateResult = {
  readonly Voucher: PaychSignedVoucher | null
  readonly Shortfall: string
}

/** `certs.FinalityCertificate` of F3GetCertificate, F3GetLatestCertificate. */
export type CertsFinalityCertificate = {
  readonly GPBFTInstance: number
  readonly ECChain: GpbftTipSet[] | null
  readonly SupplementalData: GpbftSupplementalData
  readonly Signers: number[]
  readonly Signature: string | null
  readonly PowerTableDelta: CertsPowerTableDelta[]
}

/** `certs.PowerTableDelta` of F3GetCertificate, F3GetLatestCertificate. */
export type CertsPowerTableDelta = {
  readonly ParticipantID: number
  readonly PowerDelta: string
  readonly SigningKey: string | null
}

/** `crypto.Signature` of ChainGetBlock, ChainGetBlockMessages, ChainGetGenesis and more. */
export type CryptoSignature = {
  readonly Type: number
  readonly Data: string | null
}

/** `gpbft.PowerEntry` of F3GetPowerTableByInstance. */
export type GpbftPowerEntry = {
  readonly ID: number
  readonly Power: string
  readonly PubKey: string | null
}

/** `gpbft.SupplementalData` of F3GetCertificate, F3GetLatestCertificate. */
export type GpbftSupplementalData = {
  readonly Commitments: string | null
  readonly PowerTable: JsonCid
}

/** `gpbft.TipSet` of F3GetCertificate, F3GetLatestCertificate. */
export type GpbftTipSet = {
  readonly Epoch: number
  readonly Key: JsonCid[]
  readonly PowerTable: JsonCid
  readonly Commitments: string | null
}

/** `metrics.Stats` of NetBandwidthStats, NetBandwidthStatsByPeer, NetBandwidthStatsByProtocol. */
export type MetricsStats = {
  readonly TotalIn: number
  readonly TotalOut: number
  readonly RateIn: number
  readonly RateOut: number
}

/** `miner.BeneficiaryTerm` of StateMinerInfo. */
export type MinerBeneficiaryTerm = {
  readonly Quota: string
  readonly UsedQuota: string
  readonly Expiration: number
}

/** `miner.PendingBeneficiaryChange` of StateMinerInfo. */
export type MinerPendingBeneficiaryChange = {
  readonly NewBeneficiary: string
  readonly NewQuota: string
  readonly NewExpiration: number
  readonly ApprovedByBeneficiary: boolean
  readonly ApprovedByNominee: boolean
}

/** `miner.SectorLocation` of StateSectorPartition. */
export type MinerSectorLocation = {
  readonly Deadline: number
  readonly Partition: number
}

/** `miner.SectorOnChainInfo` of StateSectorGetInfo. */
export type MinerSectorOnChainInfo = {
  readonly SectorNumber: number
  readonly SealProof: number
  readonly SealedCID: JsonCid
  readonly DeprecatedDealIDs: number[] | null
  readonly Activation: number
  readonly Expiration: number
  readonly DealWeight: string
  readonly VerifiedDealWeight: string
  readonly InitialPledge: string
  readonly ExpectedDayReward: string | null
  readonly ExpectedStoragePledge: string | null
  readonly PowerBaseEpoch: number
  readonly ReplacedDayReward: string | null
  readonly SectorKeyCID: JsonCid | null
  readonly Flags: number
  readonly DailyFee: string
}

/** `paych.Merge` of PaychVoucherAdd, PaychVoucherCheckSpendable, PaychVoucherCheckValid and more. */
export type PaychMerge = {
  readonly Lane: number
  readonly Nonce: number
}

/** `paych.ModVerifyParams` of PaychVoucherAdd, PaychVoucherCheckSpendable, PaychVoucherCheckValid and more. */
export type PaychModVerifyParams = {
  readonly Actor: string
  readonly Method: number
  readonly Data: string | null
}

/** `paych.SignedVoucher` of PaychVoucherAdd, PaychVoucherCheckSpendable, PaychVoucherCheckValid and more. */
export type PaychSignedVoucher = {
  readonly ChannelAddr: string
  readonly TimeLockMin: number
  readonly TimeLockMax: number
  readonly SecretHash: string | null
  readonly Extra: PaychModVerifyParams | null
  readonly Lane: number
  readonly Nonce: number
  readonly Amount: string
  readonly MinSettleHeight: number
  readonly Merges: PaychMerge[] | null
  readonly Signature: CryptoSignature | null
}

/** `peer.AddrInfo` of NetAddrsListen, NetConnect, NetFindPeer and more. */
export type PeerAddrInfo = {
  readonly ID: string
  readonly Addrs: string[]
}

/** `petrel.HeldUp` of MpoolExplain. */
export type PetrelHeldUp = {
  readonly Code: string
  readonly Text: string
  readonly Command: string
}

/** `petrel.MessageFee` of ChainGetTransfers, ChainGetTransfersSince. */
export type PetrelMessageFee = {
  readonly Message: JsonCid
  readonly Index: number
  readonly From: string
  readonly Burn: string
  readonly Tip: string
}

/** `petrel.MpoolExplanation` of MpoolExplain. */
export type PetrelMpoolExplanation = {
  readonly State: string
  readonly Text: string
  readonly From: string | null
  readonly Nonce: number | null
  readonly Message: JsonCid | null
  readonly Height: number | null
  readonly ExitCode: number | null
  readonly Reasons: PetrelHeldUp[]
}

/** `petrel.TipSetTransfers` of ChainGetTransfers, ChainGetTransfersSince. */
export type PetrelTipSetTransfers = {
  readonly TipSet: JsonCid[]
  readonly Height: number
  readonly Root: JsonCid
  readonly Transfers: PetrelTransfer[]
  readonly Fees: PetrelMessageFee[]
}

/** `petrel.TokenOptions` of AuthNewToken. */
export type PetrelTokenOptions = {
  readonly ExpiresIn: number
}

/** `petrel.Transfer` of ChainGetTransfers, ChainGetTransfersSince. */
export type PetrelTransfer = {
  readonly Kind: string
  readonly Message: JsonCid | null
  readonly Index: number
  readonly Path: number[]
  readonly From: string
  readonly FromAddress: string
  readonly To: string
  readonly ToAddress: string
  readonly Value: string
  readonly Method: number
}

/** `petrel.TransferSteps` of ChainGetTransfersSince. */
export type PetrelTransferSteps = {
  readonly Reverted: PetrelTipSetTransfers[]
  readonly Applied: PetrelTipSetTransfers[]
  readonly Position: JsonCid[]
}

/** `power.Claim` of StateMinerPower. */
export type PowerClaim = {
  readonly RawBytePower: string
  readonly QualityAdjPower: string
}

/** `proof.PoStProof` of ChainGetBlock, ChainGetGenesis, ChainGetTipSet and more. */
export type ProofPoStProof = {
  readonly PoStProof: number
  readonly ProofBytes: string | null
}

/** `pubsub.PeerScoreSnapshot` of NetPubsubScores. */
export type PubsubPeerScoreSnapshot = {
  readonly Score: number
  readonly Topics: { readonly [key: string]: PubsubTopicScoreSnapshot } | null
  readonly AppSpecificScore: number
  readonly IPColocationFactor: number
  readonly BehaviourPenalty: number
}

/** `pubsub.TopicScoreSnapshot` of NetPubsubScores. */
export type PubsubTopicScoreSnapshot = {
  readonly TimeInMesh: number
  readonly FirstMessageDeliveries: number
  readonly MeshMessageDeliveries: number
  readonly InvalidMessageDeliveries: number
}

/** `types.Actor` of StateGetActor. */
export type TypesActor = {
  readonly Code: JsonCid
  readonly Head: JsonCid
  readonly Nonce: number
  readonly Balance: string
  readonly DelegatedAddress: string | null
}

/** `types.BeaconEntry` of ChainGetBlock, ChainGetGenesis, ChainGetTipSet and more. */
export type TypesBeaconEntry = {
  readonly Round: number
  readonly Data: string | null
}

/** `types.BlockHeader` of ChainGetBlock, ChainGetGenesis, ChainGetTipSet and more. */
export type TypesBlockHeader = {
  readonly Miner: string
  readonly Ticket: TypesTicket | null
  readonly ElectionProof: TypesElectionProof | null
  readonly BeaconEntries: TypesBeaconEntry[] | null
  readonly WinPoStProof: ProofPoStProof[] | null
  readonly Parents: JsonCid[]
  readonly ParentWeight: string
  readonly Height: number
  readonly ParentStateRoot: JsonCid
  readonly ParentMessageReceipts: JsonCid
  readonly Messages: JsonCid
  readonly BLSAggregate: CryptoSignature | null
  readonly Timestamp: number
  readonly BlockSig: CryptoSignature | null
  readonly ForkSignaling: number
  readonly ParentBaseFee: string
}

/** `types.ElectionProof` of ChainGetBlock, ChainGetGenesis, ChainGetTipSet and more. */
export type TypesElectionProof = {
  readonly WinCount: number
  readonly VRFProof: string | null
}

/** `types.Event` of ChainGetEvents. */
export type TypesEvent = {
  readonly Emitter: number
  readonly Entries: TypesEventEntry[] | null
}

/** `types.EventEntry` of ChainGetEvents. */
export type TypesEventEntry = {
  readonly Flags: number
  readonly Key: string
  readonly Codec: number
  readonly Value: string | null
}

/** `types.KeyInfo` of WalletExport, WalletImport. */
export type TypesKeyInfo = {
  readonly Type: string | number
  readonly PrivateKey: string
}

/** `types.Message` of ChainGetBlockMessages, ChainGetMessage, ChainGetParentMessages and more. */
export type TypesMessage = {
  readonly Version: number
  readonly To: string
  readonly From: string
  readonly Nonce: number
  readonly Value: string
  readonly GasLimit: number
  readonly GasFeeCap: string
  readonly GasPremium: string
  readonly Method: number
  readonly Params: string | null
  readonly CID: JsonCid
}

/** `types.MessageReceipt` of ChainGetParentReceipts, StateCall, StateCompute and more. */
export type TypesMessageReceipt = {
  readonly ExitCode: number
  readonly Return: string | null
  readonly GasUsed: number
  readonly EventsRoot: JsonCid | null
}

/** `types.MpoolConfig` of MpoolGetConfig, MpoolSetConfig. */
export type TypesMpoolConfig = {
  readonly PriorityAddrs: string[] | null
  readonly SizeLimitHigh: number
  readonly SizeLimitLow: number
  readonly ReplaceByFeeRatio: number
  readonly PruneCooldown: number
  readonly GasLimitOverestimation: number
}

/** `types.SignedMessage` of ChainGetBlockMessages, MpoolPending, MpoolPush and more. */
export type TypesSignedMessage = {
  readonly Message: TypesMessage
  readonly Signature: CryptoSignature
  readonly CID: JsonCid
}

/** `types.Ticket` of ChainGetBlock, ChainGetGenesis, ChainGetTipSet and more. */
export type TypesTicket = {
  readonly VRFProof: string | null
}

/** `types.TipSet` of ChainGetGenesis, ChainGetTipSet, ChainGetTipSetByHeight and more. */
export type TypesTipSet = {
  readonly Cids: JsonCid[]
  readonly Blocks: TypesBlockHeader[]
  readonly Height: number
}

/** Methods that both paths serve alike. */
type SameOnBoth = {
  AuthNew: { params: [permissions: string[] | null]; result: string }
  AuthNewToken: { params: [permissions: string[], options: PetrelTokenOptions | null]; result: string }
  AuthRevoke: { params: [token: string]; result: null }
  ChainGetBlock: { params: [blockCid: JsonCid]; result: TypesBlockHeader }
  ChainGetBlockMessages: { params: [blockCid: JsonCid]; result: ApiBlockMessages }
  ChainGetEvents: { params: [rootCid: JsonCid]; result: TypesEvent[] }
  ChainGetGenesis: { params: []; result: TypesTipSet }
  ChainGetMessage: { params: [messageCid: JsonCid]; result: TypesMessage }
  ChainGetNode: { params: [path: string]; result: ApiIpldObject | null }
  ChainGetParentMessages: { params: [blockCid: JsonCid]; result: ApiMessage[] | null }
  ChainGetParentReceipts: { params: [blockCid: JsonCid]; result: TypesMessageReceipt[] | null }
  ChainGetTipSet: { params: [tipsetKey: JsonCid[]]; result: TypesTipSet }
  ChainGetTipSetByHeight: { params: [height: number, tipsetKey: JsonCid[]]; result: TypesTipSet }
  ChainGetTransfers: { params: [tipsetKey: JsonCid[]]; result: PetrelTipSetTransfers }
  ChainGetTransfersSince: {
    params: [position: JsonCid[], confidence: number, limit: number]
    result: PetrelTransferSteps
  }
  ChainHead: { params: []; result: TypesTipSet }
  ChainNotify: { params: []; result: ApiHeadChange[] }
  ChainReadObj: { params: [objectCid: JsonCid]; result: string | null }
  ChainSetHead: { params: [tipsetKey: JsonCid[]]; result: null }
  ChainStatObj: { params: [objectCid: JsonCid, base: JsonCid | null]; result: ApiObjStat }
  EthCall: {
    params: [
      tx: {
        readonly from: string
        readonly to: string
        readonly gas: string
        readonly gasPrice: string
        readonly value: string
        readonly input: string
        readonly data: string
      },
      blkParam: string | { readonly [key: string]: Json },
    ]
    result: string
  }
  EthChainId: { params: []; result: string }
  EthGetCode: { params: [address: string, blkParam: string | { readonly [key: string]: Json }]; result: string }
  F3GetCertificate: { params: [instance: number]; result: CertsFinalityCertificate }
  F3GetLatestCertificate: { params: []; result: CertsFinalityCertificate | null }
  F3GetManifest: { params: []; result: Json }
  F3GetPowerTableByInstance: { params: [instance: number]; result: GpbftPowerEntry[] | null }
  F3IsRunning: { params: []; result: boolean }
  GasEstimateGasPremium: {
    params: [blocks: number, sender: string, gasLimit: number, tipsetKey: JsonCid[]]
    result: string
  }
  GasEstimateMessageGas: {
    params: [message: TypesMessage | null, spec: ApiMessageSendSpec, tipsetKey: JsonCid[]]
    result: TypesMessage
  }
  ID: { params: []; result: string }
  LogAlerts: { params: []; result: AlertingAlert[] }
  LogList: { params: []; result: string[] }
  LogSetLevel: { params: [subsystem: string, level: string]; result: null }
  MarketAddBalance: { params: [wallet: string, address: string, amount: string]; result: JsonCid }
  MarketGetReserved: { params: [address: string]; result: string }
  MarketWithdraw: { params: [wallet: string, address: string, amount: string]; result: JsonCid | null }
  MpoolCheckMessages: { params: [prototypes: ApiMessagePrototype[]]; result: ApiMessageCheckStatus[][] }
  MpoolCheckPendingMessages: { params: [from: string]; result: ApiMessageCheckStatus[][] | null }
  MpoolClear: { params: [local: boolean]; result: null }
  MpoolExplain: { params: [messageCid: JsonCid]; result: PetrelMpoolExplanation }
  MpoolGetConfig: { params: []; result: TypesMpoolConfig }
  MpoolGetNonce: { params: [address: string]; result: number }
  MpoolPending: { params: [tipsetKey: JsonCid[]]; result: TypesSignedMessage[] }
  MpoolPush: { params: [signedMessage: TypesSignedMessage | null]; result: JsonCid }
  MpoolPushMessage: { params: [message: TypesMessage | null, spec: ApiMessageSendSpec]; result: TypesSignedMessage }
  MpoolSelect: { params: [tipsetKey: JsonCid[], ticketQuality: number]; result: TypesSignedMessage[] | null }
  MpoolSetConfig: { params: [config: TypesMpoolConfig]; result: null }
  MpoolSub: { params: []; result: ApiMpoolUpdate }
  MsigAddApprove: {
    params: [msig: string, from: string, txId: number, proposer: string, newSigner: string, increaseThreshold: boolean]
    result: ApiMessagePrototype
  }
  MsigAddCancel: {
    params: [msig: string, from: string, txId: number, newSigner: string, increaseThreshold: boolean]
    result: ApiMessagePrototype
  }
  MsigAddPropose: {
    params: [msig: string, from: string, newSigner: string, increaseThreshold: boolean]
    result: ApiMessagePrototype
  }
  MsigApprove: { params: [msig: string, txId: number, from: string]; result: ApiMessagePrototype }
  MsigApproveTxnHash: {
    params: [
      msig: string,
      txId: number,
      proposer: string,
      to: string,
      value: string,
      from: string,
      method: number,
      params: string | null,
    ]
    result: ApiMessagePrototype
  }
  MsigCancelTxnHash: {
    params: [msig: string, txId: number, to: string, value: string, from: string, method: number, params: string | null]
    result: ApiMessagePrototype
  }
  MsigCreate: {
    params: [
      required: number,
      signers: string[],
      unlockDuration: number,
      initialBalance: string,
      from: string,
      gasPrice: string,
    ]
    result: ApiMessagePrototype
  }
  MsigGetAvailableBalance: { params: [address: string, tipsetKey: JsonCid[]]; result: string }
  MsigGetPending: { params: [address: string, tipsetKey: JsonCid[]]; result: ApiMsigTransaction[] }
  MsigGetVested: { params: [address: string, startTipsetKey: JsonCid[], endTipsetKey: JsonCid[]]; result: string }
  MsigPropose: {
    params: [msig: string, to: string, value: string, from: string, method: number, params: string | null]
    result: ApiMessagePrototype
  }
  MsigRemoveSigner: {
    params: [msig: string, proposer: string, toRemove: string, decrease: boolean]
    result: ApiMessagePrototype
  }
  MsigSwapApprove: {
    params: [msig: string, from: string, txId: number, proposer: string, oldSigner: string, newSigner: string]
    result: ApiMessagePrototype
  }
  MsigSwapCancel: {
    params: [msig: string, from: string, txId: number, oldSigner: string, newSigner: string]
    result: ApiMessagePrototype
  }
  MsigSwapPropose: {
    params: [msig: string, from: string, oldSigner: string, newSigner: string]
    result: ApiMessagePrototype
  }
  NetAddrsListen: { params: []; result: PeerAddrInfo }
  NetAgentVersion: { params: [peerId: string]; result: string }
  NetAutoNatStatus: { params: []; result: ApiNatInfo }
  NetBandwidthStats: { params: []; result: MetricsStats }
  NetBandwidthStatsByPeer: { params: []; result: { readonly [key: string]: MetricsStats } }
  NetBandwidthStatsByProtocol: { params: []; result: { readonly [key: string]: MetricsStats } }
  NetBlockAdd: { params: [acl: ApiNetBlockList]; result: null }
  NetBlockList: { params: []; result: ApiNetBlockList }
  NetBlockRemove: { params: [acl: ApiNetBlockList]; result: null }
  NetConnect: { params: [peer: PeerAddrInfo]; result: null }
  NetDisconnect: { params: [peerId: string]; result: null }
  NetFindPeer: { params: [peerId: string]; result: PeerAddrInfo }
  NetLimit: { params: [scope: string]; result: ApiNetLimit }
  NetPeerInfo: { params: [peerId: string]; result: ApiExtendedPeerInfo }
  NetPeers: { params: []; result: PeerAddrInfo[] }
  NetPing: { params: [peerId: string]; result: number }
  NetProtectAdd: { params: [acl: string[] | null]; result: null }
  NetProtectList: { params: []; result: string[] | null }
  NetProtectRemove: { params: [acl: string[] | null]; result: null }
  NetPubsubScores: { params: []; result: ApiPubsubScore[] }
  NetSetLimit: { params: [scope: string, limit: ApiNetLimit]; result: null }
  NetStat: { params: [scope: string]; result: { readonly [key: string]: Json } }
  NodeStatus: { params: [inclChainStatus: boolean]; result: ApiNodeStatus }
  PaychAvailableFunds: { params: [channel: string]; result: ApiChannelAvailableFunds }
  PaychAvailableFundsByFromTo: { params: [from: string, to: string]; result: ApiChannelAvailableFunds }
  PaychCollect: { params: [channel: string]; result: JsonCid }
  PaychFund: { params: [from: string, to: string, amount: string]; result: ApiChannelInfo }
  PaychGetWaitReady: { params: [sentinelCid: JsonCid]; result: string }
  PaychList: { params: []; result: string[] }
  PaychSettle: { params: [channel: string]; result: JsonCid }
  PaychVoucherAdd: {
    params: [channel: string, voucher: PaychSignedVoucher | null, proof: string | null, minDelta: string]
    result: string
  }
  PaychVoucherCheckSpendable: {
    params: [channel: string, voucher: PaychSignedVoucher | null, secret: string | null, proof: string | null]
    result: boolean
  }
  PaychVoucherCheckValid: { params: [channel: string, voucher: PaychSignedVoucher | null]; result: null }
  PaychVoucherCreate: { params: [channel: string, amount: string, lane: number]; result: ApiVoucherCreateResult }
  PaychVoucherList: { params: [channel: string]; result: PaychSignedVoucher[] }
  PaychVoucherSubmit: {
    params: [channel: string, voucher: PaychSignedVoucher | null, secret: string | null, proof: string | null]
    result: JsonCid
  }
  Shutdown: { params: []; result: null }
  StartTime: { params: []; result: string }
  StateAccountKey: { params: [address: string, tipsetKey: JsonCid[]]; result: string }
  StateActorCodeCIDs: { params: [networkVersion: number]; result: { readonly [key: string]: JsonCid } }
  StateActorManifestCID: { params: [networkVersion: number]; result: JsonCid }
  StateCall: { params: [message: TypesMessage | null, tipsetKey: JsonCid[]]; result: ApiInvocResult }
  StateCirculatingSupply: { params: [tipsetKey: JsonCid[]]; result: string }
  StateCompute: {
    params: [vmHeight: number, messages: (TypesMessage | null)[], tipsetKey: JsonCid[]]
    result: ApiComputeStateOutput
  }
  StateDecodeParams: {
    params: [toAddr: string, method: number, params: string | null, tipsetKey: JsonCid[]]
    result: Json
  }
  StateEncodeParams: { params: [toActCode: JsonCid, method: number, params: Json]; result: string | null }
  StateGetActor: { params: [actor: string, tipsetKey: JsonCid[]]; result: TypesActor }
  StateListActors: { params: [tipsetKey: JsonCid[]]; result: string[] | null }
  StateListMessages: {
    params: [match: ApiMessageMatch, tipsetKey: JsonCid[], toHeight: number]
    result: JsonCid[] | null
  }
  StateListMiners: { params: [tipsetKey: JsonCid[]]; result: string[] | null }
  StateLookupID: { params: [address: string, tipsetKey: JsonCid[]]; result: string }
  StateMarketBalance: { params: [address: string, tipsetKey: JsonCid[]]; result: ApiMarketBalance }
  StateMinerInfo: { params: [miner: string, tipsetKey: JsonCid[]]; result: ApiMinerInfo }
  StateMinerPower: { params: [miner: string, tipsetKey: JsonCid[]]; result: ApiMinerPower }
  StateNetworkName: { params: []; result: string }
  StateNetworkVersion: { params: [tipsetKey: JsonCid[]]; result: number }
  StateReadState: { params: [actor: string, tipsetKey: JsonCid[]]; result: ApiActorState }
  StateReplay: { params: [tipsetKey: JsonCid[], messageCid: JsonCid]; result: ApiInvocResult }
  StateSectorGetInfo: {
    params: [miner: string, sectorNumber: number, tipsetKey: JsonCid[]]
    result: MinerSectorOnChainInfo | null
  }
  StateSectorPartition: {
    params: [miner: string, sectorNumber: number, tipsetKey: JsonCid[]]
    result: MinerSectorLocation | null
  }
  StateVMCirculatingSupplyInternal: { params: [tipsetKey: JsonCid[]]; result: ApiCirculatingSupply }
  SyncCheckBad: { params: [blockCid: JsonCid]; result: string }
  SyncCheckpoint: { params: [tipsetKey: JsonCid[]]; result: null }
  SyncMarkBad: { params: [blockCid: JsonCid]; result: null }
  SyncPresumed: { params: []; result: string }
  SyncState: { params: []; result: ApiSyncState }
  SyncUnmarkAllBad: { params: []; result: null }
  SyncUnmarkBad: { params: [blockCid: JsonCid]; result: null }
  Version: { params: []; result: ApiAPIVersion }
  WalletBalance: { params: [address: string]; result: string }
  WalletDefaultAddress: { params: []; result: string }
  WalletDelete: { params: [address: string]; result: null }
  WalletExport: { params: [address: string]; result: TypesKeyInfo }
  WalletHas: { params: [address: string]; result: boolean }
  WalletImport: { params: [keyInfo: TypesKeyInfo]; result: string }
  WalletList: { params: []; result: string[] }
  WalletNew: { params: [keyType: string | number]; result: string }
  WalletSetDefault: { params: [address: string]; result: null }
  WalletSign: { params: [address: string, data: string | null]; result: CryptoSignature }
  WalletSignMessage: { params: [address: string, message: TypesMessage]; result: TypesSignedMessage }
  WalletVerify: { params: [address: string, data: string | null, signature: CryptoSignature | null]; result: boolean }
}

/** Methods of `/rpc/v0`. */
export type MethodsV0 = SameOnBoth & {
  MsigCancel: {
    params: [msig: string, txId: number, to: string, value: string, from: string, method: number, params: string | null]
    result: JsonCid
  }
  PaychGet: { params: [from: string, to: string, amount: string]; result: ApiChannelInfo }
  StateSearchMsg: { params: [messageCid: JsonCid]; result: ApiMsgLookup | null }
  StateWaitMsg: { params: [messageCid: JsonCid, confidence: number]; result: ApiMsgLookup }
}

/** Methods of `/rpc/v1`. */
export type MethodsV1 = SameOnBoth & {
  MsigCancel: { params: [msig: string, txId: number, from: string]; result: ApiMessagePrototype }
  PaychGet: { params: [from: string, to: string, amount: string, opts: ApiPaychGetOpts]; result: ApiChannelInfo }
  StateSearchMsg: {
    params: [tipsetKey: JsonCid[], messageCid: JsonCid, limit: number, allowReplaced: boolean]
    result: ApiMsgLookup | null
  }
  StateWaitMsg: {
    params: [messageCid: JsonCid, confidence: number, limit: number, allowReplaced: boolean]
    result: ApiMsgLookup
  }
}
