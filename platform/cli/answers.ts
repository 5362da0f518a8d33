/** Names for the node's answers that several commands read. */
import type {
  ApiActiveSync,
  ApiInvocResult,
  ApiMsgLookup,
  CryptoSignature,
  JsonCid,
  TypesActor,
  TypesBlockHeader,
  TypesMessage,
  TypesMessageReceipt,
  TypesTipSet,
} from './nodeMethods.ts'

export type { JsonCid } from './nodeMethods.ts'
export type JsonMessage = TypesMessage
export type JsonSignature = CryptoSignature
export type JsonBlock = TypesBlockHeader
export type JsonTipset = TypesTipSet
export type JsonMsgLookup = ApiMsgLookup
export type JsonActor = TypesActor
/** A message that the node is to number or price. */
export type UnsentMessage = Omit<TypesMessage, 'CID' | 'Method'> & { readonly Method: number | bigint }

/** A call within an execution; the rows say no more of it than that it is an object. */
export interface JsonTrace {
  readonly Msg: Pick<TypesMessage, 'From' | 'To' | 'Value' | 'Method' | 'Params'>
  readonly MsgRct: Pick<TypesMessageReceipt, 'ExitCode' | 'Return'>
  readonly Subcalls: readonly JsonTrace[] | null
}

/** The calls of an execution. */
export function subcallsOf({ ExecutionTrace: trace }: ApiInvocResult): readonly JsonTrace[] | null {
  return (trace as unknown as JsonTrace).Subcalls
}
export type JsonActiveSync = ApiActiveSync

/** Key of a tipset as text: CIDs between brackets. */
export function cidTexts(cids: readonly JsonCid[]): string[] {
  return cids.map((cid) => cid['/'])
}
