/** Addresses that the reader watches, and what came to them. */

import {
  type ActorId,
  type Address,
  type AddressedTransfers,
  addressFromBytes,
  type ChainEpoch,
  delegatedAddress,
  idAddress,
  parseAddress,
  type TipsetKey,
  type TokenAmount,
  type TransferKind,
  tipsetKeyText,
} from 'petrel'

/** Ethereum's addresses live below the address manager, actor 10. */
const EAM = 10n
const ETH_BYTES = 20

/** A transfer of value, with both ends printed with the letter f. */
export interface SeenTransfer {
  readonly id: string
  readonly kind: TransferKind
  readonly height: ChainEpoch
  readonly tipset: TipsetKey
  /** CID of its message; undefined: a reward or cron. */
  readonly message: string | undefined
  readonly from: string
  readonly fromId: string
  readonly to: string
  readonly toId: string
  readonly value: TokenAmount
}

/**
 * An address as people paste it: any letter, or 0x with 40 hexadecimal digits.
 * @throws CodecError when it is none
 */
export function readAddress(text: string): Address {
  const given = text.trim()
  if (/^0x[0-9a-f]{40}$/i.test(given)) {
    const bytes = new Uint8Array(ETH_BYTES)
    for (let i = 0; i < ETH_BYTES; i++) bytes[i] = Number.parseInt(given.slice(2 + 2 * i, 4 + 2 * i), 16)
    return delegatedAddress(EAM, bytes)
  }
  return addressFromBytes(parseAddress(given).bytes)
}

/** The value transfers of a tipset, gas left out. */
export function seenTransfers({ tipset, height, transfers, addressOf }: AddressedTransfers): SeenTransfer[] {
  const name = (actor: ActorId): string => (addressOf.get(actor) ?? idAddress(actor)).toString('f')
  return transfers.map((transfer) => ({
    id: `${tipsetKeyText(tipset)}/${transfer.index}/${transfer.path.join('.')}/${transfer.kind}`,
    kind: transfer.kind,
    height,
    tipset,
    message: transfer.message?.toString(),
    from: name(transfer.from),
    fromId: idAddress(transfer.from).toString('f'),
    to: name(transfer.to),
    toId: idAddress(transfer.to).toString('f'),
    value: transfer.value,
  }))
}

/** Transfers of the chain as it stands, newest first; a reorganisation takes its own back. */
export class TransferLog {
  readonly #keep: number
  #transfers: SeenTransfer[] = []

  /** @param keep - transfers that are kept at most */
  constructor(keep: number) {
    this.#keep = keep
  }

  apply(reverted: readonly AddressedTransfers[], applied: readonly AddressedTransfers[]): void {
    const gone = new Set(reverted.map(({ tipset }) => tipsetKeyText(tipset)))
    if (gone.size > 0) this.#transfers = this.#transfers.filter(({ tipset }) => !gone.has(tipsetKeyText(tipset)))
    this.#add(applied.flatMap(seenTransfers))
  }

  /** @param transfers - oldest first */
  #add(transfers: readonly SeenTransfer[]): void {
    const known = new Set(this.#transfers.map(({ id }) => id))
    const fresh = transfers.filter(({ id, value }) => value > 0n && !known.has(id)).reverse()
    this.#transfers = [...fresh, ...this.#transfers].slice(0, this.#keep)
  }

  clear(): void {
    this.#transfers = []
  }

  /** From or to an address, newest first. @param address - with the letter f */
  of(address: string): SeenTransfer[] {
    return this.#transfers.filter(
      ({ from, fromId, to, toId }) => from === address || fromId === address || to === address || toId === address,
    )
  }
}

/** Whether the transfer came in. */
export function isIncoming({ to, toId }: SeenTransfer, address: string): boolean {
  return to === address || toId === address
}
