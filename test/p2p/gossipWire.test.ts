/** Gossip against what a Lotus node sent: envelopes, ids, payloads; each accepted on the chain that it belongs to. */
import { beforeAll, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { blockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { BlockValidator } from '../../src/p2p/gossip/blockValidator.ts'
import { gatherMessages } from '../../src/p2p/gossip/gatherMessages.ts'
import { messageId } from '../../src/p2p/gossip/messageId.ts'
import { validateMessage } from '../../src/p2p/gossip/messageValidator.ts'
import { blocksTopic, messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { chainMessageCid } from '../../src/types/chainMessage.ts'
import { signedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { openChainPool } from '../mempool/chainPool.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { chainBefore, nameOf, type WireGossip, wireBlocks, wireGossip } from './gossipChain.ts'
import { decodeEnvelope, encodeEnvelope, isSigned } from './gossipEnvelope.ts'

const missing = missingShared('data/golden/wire/p2p.jsonl.zst')

beforeAll(async () => {
  await initCrypto()
})

describe.skipIf(missing !== undefined)('recorded gossip', () => {
  const rows = missing === undefined ? wireGossip() : []

  it('is all there', () => {
    expect(rows.length).toBe(9)
    expect(new Set(rows.map(({ topic }) => topic))).toEqual(new Set([blocksTopic('testing'), messagesTopic('testing')]))
  })

  for (const [index, row] of rows.entries()) {
    it(`envelope ${index}: same bytes, signed, its id`, () => {
      const envelope = decodeEnvelope(row.envelope)
      expect(envelope.data).toEqual(row.data)
      expect(envelope.topic).toEqual(utf8(row.topic))
      expect(envelope.seqno.length).toBe(8)
      expect(encodeEnvelope(envelope)).toEqual(row.envelope)
      expect(isSigned(envelope)).toBe(true)
      expect(isSigned({ ...envelope, data: envelope.data.map((byte) => byte ^ 1) })).toBe(false)
      expect(messageId(row.topic, row.data)).toEqual(row.id)
      const again = row.topic.includes('/blocks/')
        ? encode(blockMsg, decode(blockMsg, row.data))
        : encode(signedMessage, decode(signedMessage, row.data))
      expect(again).toEqual(row.data)
    })
  }

  for (const block of missing === undefined ? wireBlocks() : []) {
    it(`block ${nameOf(block)} is accepted, and whole from what the chain has`, async () => {
      const { view, time } = chainBefore(block)
      const readState = async <T>(run: () => T | Promise<T>): Promise<T> => run()
      const validator = new BlockValidator({ view, readState, clock: time, timers: time, log: silentLog })
      const data = encode(blockMsg, block)
      expect((await validator.validate({ data, from: 'lotus' })).verdict).toBe('accept')
      expect(await validator.validate({ data, from: 'lotus' })).toEqual({ verdict: 'ignore', reason: 'seen' })
      const { blocks } = view.store
      const deps = { blocks, source: undefined, timers: time, log: silentLog }
      const messages = await gatherMessages(block, deps, new AbortController().signal)
      expect(messages).toEqual(view.blockMessages(block.header))
    })
  }

  for (const row of rows.filter(({ topic }) => topic.includes('/msgs/'))) {
    const signed = missing === undefined ? decode(signedMessage, row.data) : undefined
    it(`message of type ${signed?.signature.type} goes into the pool of its time`, {
      timeout: 60_000,
    }, async (context) => {
      const { executes } = openRecordedView('wire')
      if (!executes) {
        console.warn('skipped: no bundle of the actors')
        context.skip()
      }
      await acceptedIntoPool(row)
    })
  }
})

async function acceptedIntoPool(row: WireGossip): Promise<void> {
  const { view, vm } = openRecordedView('wire')
  const { store } = view
  const cid = signedMessageCid(decode(signedMessage, row.data))
  let at: Tipset = store.head()
  while (!view.tipsetMessages(at).some((one) => chainMessageCid(one).equals(cid))) at = store.parent(at)
  store.setHead(store.parent(at))
  const time = new VirtualTime()
  const pool = await openChainPool(view, vm, time)
  const deps = { pool, readState: async <T>(run: () => T | Promise<T>): Promise<T> => run(), log: silentLog }
  expect(await validateMessage({ data: row.data, from: 'lotus' }, deps)).toEqual({ verdict: 'accept' })
  expect(await validateMessage({ data: row.data, from: 'lotus' }, deps)).toEqual({
    verdict: 'ignore',
    reason: 'NONCE_TAKEN',
  })
  pool.close()
}
