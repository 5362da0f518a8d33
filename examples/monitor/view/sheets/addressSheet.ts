/** Sheet of an address: balance, what it is, its contract, what waits, what moved. */
import { parseCid, RpcClientError, type TipsetKey } from 'petrel'
import { formatCount, shorten } from '../../model/format.ts'
import { type ActorDetails, actorDetails, addressTransfers, TRANSFER_EPOCHS } from '../../model/lookup/details.ts'
import { announce, copyButton, h } from '../dom.ts'
import { sourceTag } from '../source.ts'
import { messageItems } from './chainSheets.ts'
import {
  amountText,
  cidText,
  type DrawnSheet,
  type Fact,
  facts,
  later,
  list,
  type SheetView,
  section,
} from './parts.ts'
import { ownTransferList } from './transferList.ts'

const SHOWN_PENDING = 30

/** @param address - with the letter f. @throws RpcClientError */
export async function addressSheet(view: SheetView, address: string): Promise<DrawnSheet> {
  const { monitor, node } = view
  const printed = monitor.print(address)
  const place = monitor.news.light === undefined ? monitor.head?.key : monitor.news.light.final?.key
  const details = place === undefined ? undefined : await existing(() => actorDetails(node, place, address))
  const { id } = details ?? {}
  const names = [address, ...(id === undefined ? [] : [id])]
  const waiting = monitor.pool
    .senders('f')
    .flatMap(({ messages }) => messages)
    .filter(({ message: { message } }) =>
      [message.from, message.to].some((party) => names.includes(party.toString('f'))),
    )
    .map(({ message: { message }, cid }) => ({ cid: parseCid(cid), message }))
  const isWatched = monitor.settings.watched.some((entry) => entry.address === address)
  const watch = (event: Event): void => {
    monitor.watch(address, '')
    announce('Address is watched')
    ;(event.currentTarget as HTMLButtonElement).disabled = true
  }
  const label = monitor.settings.watched.find((entry) => entry.address === address)?.label ?? ''
  return {
    title: label === '' ? shorten(printed, 10, 6) : label,
    parts: [
      facts([
        ['Address', wide(printed), copyButton(printed, `address ${printed}`)],
        ...(details === undefined
          ? [['Balance', '0 FIL: no such actor yet'] as const]
          : actorFacts(view, details, { address, place: place ?? [] })),
      ]),
      h(
        'p',
        { class: 'buttons' },
        h(
          'button',
          { type: 'button', class: 'quiet', disabled: isWatched, onclick: watch },
          isWatched ? 'Watched' : 'Watch',
        ),
      ),
      section('Waiting', ...list(messageItems(view, waiting), SHOWN_PENDING, 'Nothing waits.')),
      later(
        `Transfers of the last ${TRANSFER_EPOCHS} epochs`,
        addressTransfers(node, monitor.window?.tipsets ?? [], names),
        (transfers) => ownTransferList(monitor, transfers, names, 'None.'),
      ),
    ],
  }
}

async function existing<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof RpcClientError && error.code === 'REMOTE' && /actor not found/i.test(error.message))
      return undefined
    throw error
  }
}

const wide = (text: string): HTMLElement => h('span', { class: 'mono wrapped' }, text)

function actorFacts(
  { monitor }: SheetView,
  { balance, kind, id, robust, eth, nonce, code, programBytes }: ActorDetails,
  { address, place }: { readonly address: string; readonly place: TipsetKey },
): Fact[] {
  const source = monitor.news.light === undefined ? monitor.sourceOf(place) : 'proven'
  return [
    ['Balance', amountText(balance), ' ', sourceTag(source)],
    ['Kind', kind ?? 'an actor that the node has no name for'],
    id === undefined || id === address ? undefined : ['ID', monitor.print(id)],
    robust === undefined || robust === address ? undefined : ['Also', wide(monitor.print(robust))],
    eth === undefined ? undefined : ['Ethereum', wide(eth), copyButton(eth, 'Ethereum address')],
    ['Next nonce', formatCount(nonce)],
    programBytes === undefined ? undefined : ['Bytecode', `${formatCount(programBytes)} bytes`],
    ['Code', cidText(code, 'code')],
  ]
}
