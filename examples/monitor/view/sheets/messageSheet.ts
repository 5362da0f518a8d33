/** Sheet of a message: what it says, where it is, the calls that it made, what it moved. */
import type { Cid } from 'petrel'
import { formatCount, formatGasPrice } from '../../model/format.ts'
import { type Call, countCalls, type Replay } from '../../model/lookup/callTree.ts'
import { type MessageFate, messageFate, messageReplay, messageTransfers } from '../../model/lookup/details.ts'
import { announce, copyButton, h, lookButton } from '../dom.ts'
import { addressFact, amountText, cidText, type DrawnSheet, epochLink, facts, later, type SheetView } from './parts.ts'
import { transferList } from './transferList.ts'

/** Calls of a tree that are drawn. */
const MOST_CALLS = 200

function gasText(price: bigint): string {
  const { text, unit } = formatGasPrice(price)
  return `${text} ${unit}`
}

/** @throws RpcClientError */
export async function messageSheet(view: SheetView, cid: Cid): Promise<DrawnSheet> {
  const { monitor, node } = view
  const message = await node.ChainGetMessage(cid)
  const head = monitor.head?.key ?? []
  const fate = messageFate(node, head, cid)
  const found = fate.then((known) => known.found)
  const isTracked = monitor.settings.tracked.includes(cid.toString())
  const track = (event: Event): void => {
    monitor.track(cid.toString())
    announce('Message is tracked')
    ;(event.currentTarget as HTMLButtonElement).disabled = true
  }
  return {
    title: `Message ${formatCount(message.nonce)}`,
    parts: [
      facts([
        ['CID', cidText(cid.toString(), 'message CID')],
        ['From', addressFact(monitor, message.from.toString('f'))],
        ['To', addressFact(monitor, message.to.toString('f'))],
        ['Value', amountText(message.value)],
        ['Method', message.method === 0n ? '0, plain transfer' : message.method.toString()],
        ['Parameters', `${formatCount(message.params.length)} bytes`],
        ['Gas limit', formatCount(message.gasLimit)],
        ['Fee cap', gasText(message.gasFeeCap)],
        ['Premium', gasText(message.gasPremium)],
      ]),
      h(
        'p',
        { class: 'buttons' },
        h(
          'button',
          { type: 'button', class: 'quiet', disabled: isTracked, onclick: track },
          isTracked ? 'Tracked' : 'Track',
        ),
      ),
      later('Where it is', fate, drawFate),
      later(
        'Calls',
        found.then((place) => (place === undefined ? undefined : messageReplay(node, place))),
        (replay) => (replay === undefined ? [notYet()] : drawReplay(replay)),
      ),
      later(
        'Transfers',
        found.then((place) => (place === undefined ? undefined : messageTransfers(node, place))),
        (transfers) => (transfers === undefined ? [notYet()] : transferList(monitor, transfers, 'It moved nothing.')),
      ),
    ],
  }
}

function notYet(): HTMLElement {
  return h('p', { class: 'faint' }, 'Not executed yet.')
}

function drawFate({ found, explanation }: MessageFate): HTMLElement[] {
  if (found !== undefined) {
    const isFailed = found.exitCode !== 0
    return [
      facts([
        ['Executed in', epochLink(found.height)],
        ['Exit code', h('span', { class: isFailed ? 'bad' : '' }, isFailed ? String(found.exitCode) : '0, it worked')],
        found.reason === undefined ? undefined : ['Reason', h('span', { class: 'bad wrapped' }, found.reason)],
        ['Gas used', formatCount(found.gasUsed)],
      ]),
    ]
  }
  if (explanation === undefined) return [h('p', {}, 'Not on the chain that the head ends.')]
  const { text, command } = explanation
  return [
    h('p', {}, `${text.charAt(0).toUpperCase()}${text.slice(1)}.`),
    ...(command === undefined
      ? []
      : [h('p', { class: 'repair' }, h('code', { class: 'mono' }, command), copyButton(command, 'command'))]),
  ]
}

function drawReplay({ call, cost, error }: Replay): HTMLElement[] {
  const count = countCalls(call)
  let left = MOST_CALLS
  const draw = (branch: Call): HTMLElement | undefined => {
    if (left-- <= 0) return undefined
    const inner = branch.calls.map(draw)
    const isFailed = branch.exitCode !== 0
    return h(
      'li',
      {},
      h(
        'span',
        { class: 'call' },
        lookButton(
          branch.to,
          branch.to.length > 14 ? `${branch.to.slice(0, 8)}…${branch.to.slice(-4)}` : branch.to,
          `address ${branch.to}`,
        ),
        h('span', { class: 'num' }, `method ${branch.method}`),
        branch.value > 0n ? amountText(branch.value) : undefined,
        isFailed ? h('span', { class: 'bad' }, `exit code ${branch.exitCode}`) : undefined,
      ),
      inner.length === 0 ? undefined : h('ul', {}, ...inner),
    )
  }
  const tree = draw(call)
  return [
    h('ul', { class: 'calls' }, ...(tree === undefined ? [] : [tree])),
    h(
      'p',
      { class: 'faint' },
      `${count} ${count === 1 ? 'call' : 'calls'}${count > MOST_CALLS ? `, ${MOST_CALLS} shown` : ''}; its gas cost `,
      amountText(cost),
    ),
    ...(error === '' ? [] : [h('p', { class: 'bad wrapped' }, error)]),
  ]
}
