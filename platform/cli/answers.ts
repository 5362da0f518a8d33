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
/** Without its signature; `CID` is that of the unsigned message. Token amounts are decimal texts, attoFIL. */
export type JsonMessage = TypesMessage
/** `Type` 1 secp256k1, 2 BLS, 3 delegated (Ethereum's); `Data` in base64. */
export type JsonSignature = CryptoSignature
/** A block's header: 16 fields, without its messages. */
export type JsonBlock = TypesBlockHeader
/** CIDs, headers and height of blocks that have the same parents. */
export type JsonTipset = TypesTipSet
/** Where a message was executed, with its receipt. */
export type JsonMsgLookup = ApiMsgLookup
/** Code, head, nonce and balance of an actor; its state is another question. */
export type JsonActor = TypesActor
/** A sync worker, running or ended; times in RFC 3339, year 1 for none. */
export type JsonActiveSync = ApiActiveSync
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

/** Key of a tipset as text: CIDs between brackets. */
export function cidTexts(cids: readonly JsonCid[]): string[] {
  return cids.map((cid) => cid['/'])
}
