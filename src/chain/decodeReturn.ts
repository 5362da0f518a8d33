/**
 * The return of an executed message as JSON, by the type of its method.
 * @see lotus node/impl/full/state.go StateWaitMsg; cbor-gen gen.go UnmarshalCBOR
 */
import { toBase64 } from '../base/bytes.ts'
import { CborReader } from '../codec/cborReader.ts'
import type { JsonContext } from '../codec/description.ts'
import type { Json } from '../codec/jsonText.ts'
import { actorMethod } from '../state/actorMethods.ts'
import type { Message } from '../types/message.ts'
import { tryActorOf } from './actorLookup.ts'
import type { ChainView } from './chainView.ts'
import type { FoundMessage } from './searchMessage.ts'

/**
 * @returns null for a failed message or an empty return; base64 of the raw bytes for a method that is not known
 * @throws CodecError when the return is not what the method's type says
 */
export function decodeReturn(view: ChainView, message: Message, found: FoundMessage, context: JsonContext): Json {
  const { receipt, tipset } = found
  if (receipt.exitCode !== 0 || receipt.return.length === 0) return null
  const actor = tryActorOf(view.stateBefore(tipset), message.to)
  const code = actor === undefined ? undefined : view.codes(actor.code)
  const called = code === undefined ? undefined : actorMethod(code.kind, code.actorsVersion, message.method)
  if (called === undefined) return toBase64(receipt.return)
  if (called.returns === null) return {}
  // Whatever lies behind the value is not looked at.
  return called.returns.toJson(called.returns.read(new CborReader(receipt.return)), context)
}
