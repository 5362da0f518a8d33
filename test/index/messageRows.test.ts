/** What anybody may put into a message: a row that cannot be told is told as bytes alone. */
import { beforeAll, expect, test } from 'vitest'
import { parseCid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { type ExecutedMessage, type ExecutedTipset, executedTipset } from '../../src/eth/executedTipset.ts'
import type { Row } from '../../src/index/indexStore.ts'
import { messageRows } from '../../src/index/messageRows.ts'
import { publishStorageDealsParams } from '../../src/state/params/market.ts'
import { idAddress } from '../../src/types/address.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'

const LABEL = 'QQQQQQQQ'
/** PublishStorageDeals. */
const MARKET = { to: idAddress(5n), method: 4n }

let exchange: Exchange
let tipset: Tipset
let executed: ExecutedTipset
beforeAll(async () => {
  exchange = await exchangeChain()
  tipset = await exchange.mine()
  await exchange.mine()
  executed = await executedTipset(exchange.node.view, exchange.node.vm, tipset)
})

/** A deal whose label, of text, is so many bytes of this value. */
function deals(byte: number): Uint8Array {
  const proposal = {
    pieceCid: parseCid('baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq'),
    ...{ pieceSize: 2048, verifiedDeal: false, startEpoch: 1000, endEpoch: 600_000 },
    ...{ client: idAddress(100n), provider: idAddress(1000n) },
    label: { isText: true, data: new TextEncoder().encode(LABEL) },
    ...{ storagePricePerEpoch: 0n, providerCollateral: 0n, clientCollateral: 0n },
  } as const
  const clientSignature = { type: 1 as const, data: new Uint8Array(65) }
  const params = encode(publishStorageDealsParams, { deals: [{ proposal, clientSignature }] } as never)
  const at = String.fromCharCode(...params).indexOf(LABEL)
  return params.fill(byte, at, at + LABEL.length)
}

function rowOf(params: Uint8Array): Row | undefined {
  const { view } = exchange.node
  const [one] = executed.messages as readonly [ExecutedMessage]
  const message = { ...one.message, message: { ...one.message.message, ...MARKET, params } } as typeof one.message
  const states = { before: view.stateBefore(tipset), after: executed.tree }
  return messageRows(view, { ...executed, messages: [{ ...one, message }] }, states, [])[0]
}

test('parameters are decoded by the type of their method', () => {
  const row = rowOf(deals(0x41))
  expect(row?.method_name).toBe('PublishStorageDeals')
  expect(JSON.stringify(row?.params_json, (_, value) => (typeof value === 'bigint' ? String(value) : value))).toContain(
    'AAAAAAAA',
  )
})

test.each([
  ['a text that is not UTF-8', 0xff],
  ['a text with the character U+0000', 0x00],
])('%s is no reason to have no row', (_what, byte) => {
  const params = deals(byte)
  expect(rowOf(params)).toMatchObject({ method_name: 'PublishStorageDeals', params_json: null })
})
