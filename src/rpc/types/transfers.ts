/** JSON of a tipset's transfers. Output only; a method of ours, named in Lotus' manner. */
import { type Codec, cid, type JsonContext, jsonOnly } from '../../codec/description.ts'
import { type Json, jsonInteger } from '../../codec/jsonText.ts'
import type { AddressedTransfers } from '../../transfers/tipsetTransfers.ts'
import type { MessageFee, Transfer } from '../../transfers/transfer.ts'
import { address, idAddress } from '../../types/address.ts'
import type { ActorId } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'

function outputOnly<T>(name: string, toJson: (value: T, context: JsonContext) => Json): Codec<T> {
  const refuse = (): never => {
    throw new RpcError('FAILED', `not supported: ${name} is output only`)
  }
  return jsonOnly<T>(name, toJson, refuse, { type: 'object', title: name })
}

function transferJson(transfer: Transfer, { addressOf }: AddressedTransfers, context: JsonContext): Json {
  const id = (actor: ActorId): Json => address.toJson(idAddress(actor), context)
  const named = (actor: ActorId): Json => address.toJson(addressOf.get(actor) ?? idAddress(actor), context)
  return {
    Kind: transfer.kind,
    Message: transfer.message === null ? null : cid.toJson(transfer.message, context),
    Index: transfer.index,
    Path: [...transfer.path],
    From: id(transfer.from),
    FromAddress: named(transfer.from),
    To: id(transfer.to),
    ToAddress: named(transfer.to),
    Value: transfer.value.toString(),
    Method: jsonInteger(transfer.method),
  }
}

function feeJson(fee: MessageFee, context: JsonContext): Json {
  return {
    Message: cid.toJson(fee.message, context),
    Index: fee.index,
    From: address.toJson(idAddress(fee.from), context),
    Burn: fee.burn.toString(),
    Tip: fee.tip.toString(),
  }
}

/** `{TipSet, Height, Root, Transfers, Fees}`; lists are `[]` when empty. */
export const tipsetTransfers: Codec<AddressedTransfers> = outputOnly('petrel.TipSetTransfers', (value, context) => ({
  TipSet: tipsetKey.toJson(value.tipset, context),
  Height: value.height,
  Root: cid.toJson(value.root, context),
  Transfers: value.transfers.map((one) => transferJson(one, value, context)),
  Fees: value.fees.map((one) => feeJson(one, context)),
}))

/** What to take back, what to book, and where to go on. */
export interface TransferSteps {
  readonly reverted: readonly AddressedTransfers[]
  readonly applied: readonly AddressedTransfers[]
  readonly position: TipsetKey
}

/** `{Reverted, Applied, Position}`. */
export const transferSteps: Codec<TransferSteps> = outputOnly('petrel.TransferSteps', (value, context) => ({
  Reverted: value.reverted.map((one) => tipsetTransfers.toJson(one, context)),
  Applied: value.applied.map((one) => tipsetTransfers.toJson(one, context)),
  Position: tipsetKey.toJson(value.position, context),
}))
