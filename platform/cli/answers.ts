/** The parts of the node's JSON answers that the command line reads. */

export interface JsonCid {
  readonly '/': string
}

export interface JsonMessage {
  readonly Version: number
  readonly To: string
  readonly From: string
  readonly Nonce: number | bigint
  readonly Value: string
  readonly GasLimit: number | bigint
  readonly GasFeeCap: string
  readonly GasPremium: string
  readonly Method: number | bigint
  readonly Params: string | null
  readonly CID?: JsonCid
}

export interface JsonSignature {
  readonly Type: number
  readonly Data: string
}

export interface JsonSignedMessage {
  readonly Message: JsonMessage
  readonly Signature: JsonSignature
  readonly CID: JsonCid
}

export interface JsonBlock {
  readonly Miner: string
  readonly Height: number
  readonly Timestamp: number
  readonly ParentBaseFee: string
  readonly ParentWeight: string
  readonly Parents: readonly JsonCid[]
  readonly [key: string]: unknown
}

export interface JsonTipset {
  readonly Cids: readonly JsonCid[]
  readonly Blocks: readonly JsonBlock[]
  readonly Height: number
}

export interface JsonReceipt {
  readonly ExitCode: number
  readonly Return: string | null
  readonly GasUsed: number
  readonly EventsRoot: JsonCid | null
}

export interface JsonMsgLookup {
  readonly Message: JsonCid
  readonly Receipt: JsonReceipt
  readonly ReturnDec: unknown
  readonly TipSet: readonly JsonCid[]
  readonly Height: number
}

export interface JsonActor {
  readonly Code: JsonCid
  readonly Head: JsonCid
  readonly Nonce: number | bigint
  readonly Balance: string
  readonly DelegatedAddress: string | null
}

export interface JsonTrace {
  readonly Msg: {
    readonly From: string
    readonly To: string
    readonly Value: string
    readonly Method: number | bigint
    readonly Params: string | null
  }
  readonly MsgRct: { readonly ExitCode: number; readonly Return: string | null }
  readonly Subcalls: readonly JsonTrace[] | null
}

export interface JsonInvocResult {
  readonly Msg: JsonMessage
  readonly MsgRct: JsonReceipt
  readonly GasCost: Readonly<
    Record<'BaseFeeBurn' | 'OverEstimationBurn' | 'MinerPenalty' | 'MinerTip' | 'Refund' | 'TotalCost', string>
  >
  readonly ExecutionTrace: JsonTrace
  readonly Error: string
}

export interface JsonActiveSync {
  readonly WorkerID: number
  readonly Base: JsonTipset | null
  readonly Target: JsonTipset | null
  readonly Stage: number
  readonly Height: number
  readonly Start: string
  readonly End: string
  readonly Message: string
}

export interface JsonSyncState {
  readonly ActiveSyncs: readonly JsonActiveSync[] | null
  readonly VMApplied: number
}

/** Key of a tipset as text: CIDs between brackets. */
export function cidTexts(cids: readonly JsonCid[]): string[] {
  return cids.map((one) => one['/'])
}
