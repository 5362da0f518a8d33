/** JSON of a tipset's transfers: methods of ours, named in Lotus' manner. */
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, jsonOnly, listOrEmpty, nullable, struct, text, uint } from '../../codec/description.ts'
import { type Field, withForm } from '../../codec/structJson.ts'
import type { AddressedTransfers } from '../../transfers/tipsetTransfers.ts'
import type { MessageFee, Transfer, TransferKind } from '../../transfers/transfer.ts'
import { type Address, address, addressToId, idAddress } from '../../types/address.ts'
import {
  type ActorId,
  type ChainEpoch,
  chainEpoch,
  type MethodNum,
  methodNum,
  type TokenAmount,
  tokenAmount,
} from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'

/** A transfer as its JSON has it. */
export interface TransferForm {
  readonly kind: string
  readonly message: Cid | null
  readonly index: number
  readonly path: number[]
  readonly from: Address
  readonly fromAddress: Address
  readonly to: Address
  readonly toAddress: Address
  readonly value: TokenAmount
  readonly method: MethodNum
}

interface FeeForm {
  readonly message: Cid
  readonly index: number
  readonly from: Address
  readonly burn: TokenAmount
  readonly tip: TokenAmount
}

interface TipsetForm {
  readonly tipset: TipsetKey
  readonly height: ChainEpoch
  readonly root: Cid
  readonly transfers: TransferForm[]
  readonly fees: FeeForm[]
}

/** The fields of a transfer's JSON. */
export const TRANSFER_FIELDS: readonly Field<TransferForm>[] = [
  ['kind', 'Kind', text],
  ['message', 'Message', nullable(cid)],
  ['index', 'Index', uint],
  ['path', 'Path', listOrEmpty(uint)],
  ['from', 'From', address],
  ['fromAddress', 'FromAddress', address],
  ['to', 'To', address],
  ['toAddress', 'ToAddress', address],
  ['value', 'Value', tokenAmount],
  ['method', 'Method', methodNum],
]

const transferForm: Codec<TransferForm> = struct<TransferForm>('petrel.Transfer', TRANSFER_FIELDS)

const feeForm: Codec<FeeForm> = struct<FeeForm>('petrel.MessageFee', [
  ['message', 'Message', cid],
  ['index', 'Index', uint],
  ['from', 'From', address],
  ['burn', 'Burn', tokenAmount],
  ['tip', 'Tip', tokenAmount],
])

const tipsetForm: Codec<TipsetForm> = struct<TipsetForm>('petrel.TipSetTransfers', [
  ['tipset', 'TipSet', tipsetKey],
  ['height', 'Height', chainEpoch],
  ['root', 'Root', cid],
  ['transfers', 'Transfers', listOrEmpty(transferForm)],
  ['fees', 'Fees', listOrEmpty(feeForm)],
])

function toForm({ addressOf, ...value }: AddressedTransfers): TipsetForm {
  const named = (actor: ActorId): Address => addressOf.get(actor) ?? idAddress(actor)
  return {
    ...value,
    transfers: value.transfers.map((transfer) => ({
      ...transfer,
      path: [...transfer.path],
      from: idAddress(transfer.from),
      fromAddress: named(transfer.from),
      to: idAddress(transfer.to),
      toAddress: named(transfer.to),
    })),
    fees: value.fees.map((fee) => ({ ...fee, from: idAddress(fee.from) })),
  }
}

/** Of a recipient the JSON has the address after the tipset; what the sender wrote is not in it. */
function fromForm(form: TipsetForm): AddressedTransfers {
  const addressOf = new Map<ActorId, Address>()
  const actor = (id: Address, name: Address): ActorId => {
    const number = addressToId(id)
    addressOf.set(number, name)
    return number
  }
  const transfer = (given: TransferForm): Transfer => ({
    kind: given.kind as TransferKind,
    message: given.message,
    index: given.index,
    path: given.path,
    from: actor(given.from, given.fromAddress),
    to: actor(given.to, given.toAddress),
    toAddress: given.toAddress,
    value: given.value,
    method: given.method,
  })
  const fee = (given: FeeForm): MessageFee => ({ ...given, from: addressToId(given.from) })
  return { ...form, transfers: form.transfers.map(transfer), fees: form.fees.map(fee), addressOf }
}

/** `{TipSet, Height, Root, Transfers, Fees}`; lists are `[]` when empty. */
export const tipsetTransfers: Codec<AddressedTransfers> = jsonOnly<AddressedTransfers>(
  'petrel.TipSetTransfers',
  withForm(tipsetForm, toForm),
  (json, context) => fromForm(tipsetForm.fromJson(json, context)),
  tipsetForm.schema,
)

/** What to take back, what to book, and where to go on. */
export interface TransferSteps {
  readonly reverted: AddressedTransfers[]
  readonly applied: AddressedTransfers[]
  readonly position: TipsetKey
}

/** `{Reverted, Applied, Position}`. */
export const transferSteps: Codec<TransferSteps> = struct<TransferSteps>('petrel.TransferSteps', [
  ['reverted', 'Reverted', listOrEmpty(tipsetTransfers)],
  ['applied', 'Applied', listOrEmpty(tipsetTransfers)],
  ['position', 'Position', tipsetKey],
])
