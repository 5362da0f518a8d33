/** Messages with their receipts and fees as rows, parameters and returns decoded by their methods' types. */

import { concatBytes } from '../base/bytes.ts'
import { unlessThrown } from '../base/errors.ts'
import type { ChainView } from '../chain/chainView.ts'
import { resolveId } from '../chain/chainView.ts'
import { type Codec, decode } from '../codec/description.ts'
import type { Json } from '../codec/jsonText.ts'
import type { ExecutedMessage, ExecutedTipset } from '../eth/executedTipset.ts'
import { actorMethod } from '../state/actorMethods.ts'
import type { MessageFee } from '../transfers/transfer.ts'
import { chainMessageCid } from '../types/chainMessage.ts'
import type { ActorId } from '../types/scalars.ts'
import type { Signature } from '../types/signature.ts'
import type { ExecutedStates } from './addressRows.ts'
import type { Row } from './indexStore.ts'
import { byteText, keptJson } from './rowText.ts'

/** @param fees - of the tipset */
export function messageRows(
  view: ChainView,
  { messages }: ExecutedTipset,
  states: ExecutedStates,
  fees: readonly MessageFee[],
): Row[] {
  const feeOf = new Map(fees.map((fee) => [fee.message.key, fee]))
  return messages.map((executed, position) => {
    const { message, receipt } = executed
    const { from, to, method } = message.message
    const cid = chainMessageCid(message)
    const fee = feeOf.get(cid.key)
    const toActor = resolveId(states.after, to)
    return {
      position,
      cid: String(cid),
      from_actor: resolveId(states.after, from) ?? null,
      from_address: view.addressText(from),
      to_actor: toActor ?? null,
      to_address: view.addressText(to),
      nonce: String(message.message.nonce),
      value: String(message.message.value),
      gas_limit: message.message.gasLimit,
      gas_fee_cap: String(message.message.gasFeeCap),
      gas_premium: String(message.message.gasPremium),
      method: String(method),
      params: byteText(message.message.params),
      exit_code: receipt.exitCode,
      gas_used: receipt.gasUsed,
      returned: byteText(receipt.return),
      burned: String(fee?.burn ?? 0n),
      tip: String(fee?.tip ?? 0n),
      events_root: receipt.eventsRoot === null ? null : String(receipt.eventsRoot),
      signature: message.kind === 'bls' ? null : signatureText(message.signed.signature),
      ...decoded(view, executed, toActor, states),
    }
  })
}

/** Type byte and data. */
function signatureText({ type, data }: Signature): string {
  return byteText(concatBytes(Uint8Array.of(type), data))
}

/** `actor_kind`, `method_name`, `params_json`, `returned_json`: null where they are not known, or empty. */
function decoded(
  view: ChainView,
  { message: { message }, receipt }: ExecutedMessage,
  to: ActorId | undefined,
  { before, after }: ExecutedStates,
): Row {
  const actor = to === undefined ? undefined : (before.getActor(to) ?? after.getActor(to))
  const code = actor === undefined ? undefined : view.codes(actor.code)
  const called = code === undefined ? undefined : actorMethod(code.kind, code.actorsVersion, message.method)
  const json = (codec: Codec<unknown> | null | undefined, bytes: Uint8Array): Json => {
    if (codec === null || codec === undefined || bytes.length === 0) return null
    const context = { addressPrefix: view.network.addressPrefix }
    // Senders may send what they like, and nothing but these bytes is read here: whatever error they lead to, no row fails by it.
    return unlessThrown(() => keptJson(codec.toJson(decode(codec, bytes), context)), Error) ?? null
  }
  return {
    actor_kind: code?.kind ?? null,
    method_name: message.method === 0n ? 'Send' : (called?.name ?? null),
    params_json: json(called?.params, message.params),
    returned_json: receipt.exitCode === 0 ? json(called?.returns, receipt.return) : null,
  }
}
