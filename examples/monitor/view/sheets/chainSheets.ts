/** Sheets of a tipset and of a block. */
import {
  type BlockHeader,
  type Cid,
  firstBlock,
  type Message,
  messageCid,
  signedMessageCid,
  type TipsetKey,
} from 'petrel'
import { formatAge, formatCount, formatGasPrice, formatTime, shorten } from '../../model/format.ts'
import { copyButton, h, lookButton } from '../dom.ts'
import { sourceTag } from '../source.ts'
import {
  addressFact,
  addressLink,
  amountText,
  cidText,
  type DrawnSheet,
  facts,
  later,
  list,
  type SheetView,
  section,
} from './parts.ts'

const SHOWN_MESSAGES = 60
const MS = 1000

function timeText(timestamp: number): string {
  const at = new Date(timestamp * MS).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
  return `${at}, ${formatTime(timestamp)} (${formatAge(Date.now() / MS - timestamp)} ago)`
}

function parentsText(parents: readonly Cid[]): (Node | string)[] {
  const key = parents.join(' ')
  if (parents.length === 0) return ['none: this is genesis']
  return [lookButton(key, `${parents.length} ${parents.length === 1 ? 'block' : 'blocks'}`, 'parent tipset', '')]
}

/** Of messages as a node lists them. */
export function messageItems(
  { monitor }: SheetView,
  messages: readonly { readonly cid: Cid; readonly message: Message }[],
): HTMLElement[] {
  return messages.map(({ cid, message }) =>
    h(
      'li',
      {},
      lookButton(cid.toString(), shorten(cid.toString(), 6, 6), `message ${cid}`),
      h(
        'span',
        {},
        addressLink(monitor, message.from.toString('f')),
        ' → ',
        addressLink(monitor, message.to.toString('f')),
      ),
      amountText(message.value),
    ),
  )
}

/** @throws RpcClientError */
export async function tipsetSheet(view: SheetView, key: TipsetKey): Promise<DrawnSheet> {
  const { monitor, node } = view
  const tipset = await node.ChainGetTipSet(key)
  const first = firstBlock(tipset)
  const fee = formatGasPrice(first.parentBaseFee)
  const state = monitor.finality?.at(tipset.height)
  return {
    title: `Tipset ${formatCount(tipset.height)}`,
    parts: [
      facts([
        ['Time', timeText(first.timestamp)],
        [
          'Finality',
          state === undefined || state.depth < 0 ? '–' : state.isFinal ? 'final' : `${formatCount(state.depth)} deep`,
        ],
        ['Base fee', `${fee.text} ${fee.unit}`],
        ['Weight', first.parentWeight.toString()],
        ['Parents', ...parentsText(first.parents)],
        ['State', cidText(first.parentStateRoot.toString(), 'state root')],
        ['Key', h('span', {}, `${tipset.key.length} CIDs `), copyButton(tipset.key.join(' '), 'tipset key')],
        ['Source', sourceTag(monitor.sourceOf(tipset.key))],
      ]),
      section(
        'Blocks',
        ...list(
          tipset.blocks.map((block, i) => {
            const cid = (tipset.key[i] as Cid).toString()
            return h(
              'li',
              {},
              lookButton(cid, shorten(cid, 6, 6), `block ${cid}`),
              addressLink(monitor, block.miner.toString('f')),
              h('span', { class: 'faint num' }, `${block.electionProof?.winCount ?? 0} won`),
            )
          }),
          tipset.blocks.length,
          '',
        ),
      ),
      later('Messages', node.ChainGetMessagesInTipset(key), (messages) =>
        list(messageItems(view, messages), SHOWN_MESSAGES, 'None.'),
      ),
    ],
  }
}

/** @throws RpcClientError */
export async function blockSheet(view: SheetView, cid: Cid): Promise<DrawnSheet> {
  const { monitor, node } = view
  const block: BlockHeader = await node.ChainGetBlock(cid)
  const fee = formatGasPrice(block.parentBaseFee)
  return {
    title: `Block of epoch ${formatCount(block.height)}`,
    parts: [
      facts([
        ['CID', cidText(cid.toString(), 'block')],
        ['Producer', addressFact(monitor, block.miner.toString('f'))],
        [
          'Epoch',
          lookButton(String(block.height), formatCount(block.height), `tipset of epoch ${block.height}`, 'num'),
        ],
        ['Time', timeText(block.timestamp)],
        ['Won', `${block.electionProof?.winCount ?? 0} times`],
        ['Base fee', `${fee.text} ${fee.unit}`],
        ['Parents', ...parentsText(block.parents)],
        ['Parent state', cidText(block.parentStateRoot.toString(), 'state root')],
        ['Receipts', cidText(block.parentMessageReceipts.toString(), 'receipts')],
        ['Messages', cidText(block.messages.toString(), 'messages')],
      ]),
      later('Messages', node.ChainGetBlockMessages(cid), ({ bls, signed }) => {
        const all = [
          ...bls.map((message) => ({ cid: messageCid(message), message })),
          ...signed.map((own) => ({ cid: signedMessageCid(own), message: own.message })),
        ]
        return list(messageItems(view, all), SHOWN_MESSAGES, 'None.')
      }),
    ],
  }
}
