/** Waiting for messages of a recorded chain while its head moves back and forth. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { ChainView } from '../../src/chain/chainView.ts'
import { executedIn, loadSought, searchMessage } from '../../src/chain/searchMessage.ts'
import { type WaitDeps, type WaitOptions, waitMessage } from '../../src/chain/waitMessage.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { putCbor } from '../../src/ipld/blockstore.ts'
import { type ChainMessage, chainMessageCid } from '../../src/types/chainMessage.ts'
import { message } from '../../src/types/message.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'

describe.skipIf(missingShared('data/golden') !== undefined)('waiting', () => {
  let view: ChainView
  let deps: WaitDeps
  let last: Tipset
  /** The tipset that executed the message, and the message. */
  let executed: Tipset
  let cid: Cid
  let sent: ChainMessage

  const at = (height: number): Tipset => view.store.tipsetByHeight(height, last, 'next')
  const options = (confidence: number, extra: Partial<WaitOptions> = {}): WaitOptions => ({
    confidence: BigInt(confidence),
    limit: -1,
    allowReplaced: true,
    signal: new AbortController().signal,
    ...extra,
  })
  /** Whether a promise is settled after everything that can run has run. */
  const settled = async (promise: Promise<unknown>): Promise<boolean> => {
    let done = false
    const mark = (): void => {
      done = true
    }
    promise.then(mark, mark)
    for (let i = 0; i < 200; i++) await Promise.resolve()
    return done
  }

  beforeAll(() => {
    const opened = openRecordedView('nv28')
    view = opened.view
    deps = { view, vm: opened.vm, log: silentLog }
    last = view.store.head()
    for (let tipset = at(30); ; tipset = at(tipset.height + 1)) {
      const own = view.tipsetMessages(view.store.parent(tipset)).find((one) => one.kind === 'signed')
      if (own === undefined) continue
      executed = tipset
      cid = chainMessageCid(own)
      sent = own
      return
    }
  })

  test('answers at once when it lies deep enough', async () => {
    view.store.setHead(at(executed.height + 20))
    const found = await waitMessage(cid, options(10), deps)
    expect(found.tipset.height).toBe(executed.height)
    expect(found.cid.equals(cid)).toBe(true)
  })

  test('answers when the head gets there', async () => {
    view.store.setHead(at(executed.height - 2))
    const waiting = waitMessage(cid, options(3), deps)
    expect(await settled(waiting)).toBe(false)
    view.store.setHead(executed)
    expect(await settled(waiting)).toBe(false)
    view.store.setHead(at(executed.height + 1))
    expect(await settled(waiting)).toBe(false)
    view.store.setHead(at(executed.height + 3))
    expect((await waiting).tipset.height).toBe(executed.height)
  })

  test('forgets it when its tipset is reverted', async () => {
    view.store.setHead(at(executed.height + 1))
    const waiting = waitMessage(cid, options(4), deps)
    expect(await settled(waiting)).toBe(false)
    view.store.setHead(view.store.parent(executed))
    expect(await settled(waiting)).toBe(false)
    view.store.setHead(at(executed.height + 2))
    expect(await settled(waiting)).toBe(false)
    view.store.setHead(at(executed.height + 4))
    expect((await waiting).tipset.height).toBe(executed.height)
  })

  test('looks again at the next heads when the look below the head failed, but not for ever', async () => {
    let failures = 1
    let looks = 0
    const stateBefore = (tipset: Tipset) => {
      looks++
      if (failures-- > 0) throw new Error('a block is still to come')
      return view.stateBefore(tipset)
    }
    const lacking: WaitDeps = {
      ...deps,
      view: new Proxy(view, {
        get: (target, name) => {
          if (name === 'stateBefore') return stateBefore
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      }),
    }
    view.store.setHead(at(executed.height + 20))
    const waiting = waitMessage(cid, options(3), lacking)
    expect(await settled(waiting)).toBe(false)
    view.store.setHead(at(executed.height + 21))
    expect((await waiting).tipset.height).toBe(executed.height)

    failures = Number.POSITIVE_INFINITY
    looks = 0
    const controller = new AbortController()
    const never = waitMessage(cid, options(3, { signal: controller.signal }), lacking)
    for (let height = 22; height < 40; height++) {
      expect(await settled(never)).toBe(false)
      view.store.setHead(at(executed.height + height))
    }
    expect(await settled(never)).toBe(false)
    expect(looks).toBe(4)
    controller.abort()
    await expect(never).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  test('ends with its signal', async () => {
    view.store.setHead(at(executed.height - 2))
    const controller = new AbortController()
    const waiting = waitMessage(cid, options(3, { signal: controller.signal }), deps)
    expect(await settled(waiting)).toBe(false)
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' })
    await expect(waitMessage(cid, options(3, { signal: AbortSignal.abort() }), deps)).rejects.toMatchObject({
      code: 'CANCELLED',
    })
  })

  test('of many looks through each new tipset once for all', async () => {
    const others = Array.from({ length: 50 }, (_, i) => {
      const { message: own } = sent
      return putCbor(view.store.blocks, message, { ...own, nonce: own.nonce + 1_000n + BigInt(i) })
    })
    view.store.setHead(at(executed.height - 2))
    const controller = new AbortController()
    let looks = 0
    const lists = new WeakMap<readonly ChainMessage[], readonly ChainMessage[]>()
    const counting = (messages: readonly ChainMessage[]): readonly ChainMessage[] => {
      const known = lists.get(messages)
      if (known !== undefined) return known
      const counted = messages.map((one) => ({
        ...one,
        get message() {
          looks++
          return one.message
        },
      }))
      lists.set(messages, counted)
      return counted
    }
    const counted: WaitDeps = {
      ...deps,
      view: new Proxy(view, {
        get: (target, name) => {
          if (name === 'tipsetMessages') return (tipset: Tipset) => counting(view.tipsetMessages(tipset))
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      }),
    }
    const waiting = others.map((other) => waitMessage(other, options(3, { signal: controller.signal }), counted))
    const before = view.store.head()
    expect(await settled(Promise.race(waiting))).toBe(false)
    const seen = [before]
    for (let height = before.height + 1; height <= executed.height; height++) {
      view.store.setHead(at(height))
      if (view.store.head().height > (seen.at(-1) as Tipset).height) seen.push(view.store.head())
      expect(await settled(Promise.race(waiting))).toBe(false)
    }
    const all = seen.map((tipset) => view.tipsetMessages(view.store.parent(tipset)).length)
    expect(looks).toBe(all.reduce((sum, count) => sum + count, 0))
    expect(looks).toBeGreaterThan(0)
    controller.abort()
    for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  test('refuses more confidence than finality', async () => {
    await expect(waitMessage(cid, options(901), deps)).rejects.toThrow('message confidence exceeds maximum: 901 > 900')
  })

  test('limits stop the search, not the waiting', async () => {
    const head = at(executed.height + 20)
    view.store.setHead(head)
    const search = (limit: number) =>
      searchMessage(loadSought(view, cid), head, { limit, allowReplaced: true }, deps).then(
        (found) => found?.tipset.height,
      )
    const depth = head.height - executed.height
    expect(await search(depth + 1)).toBe(executed.height)
    expect(await search(depth)).toBeUndefined()
    expect(await search(0)).toBeUndefined()
    const waiting = waitMessage(cid, options(1, { limit: 1, signal: AbortSignal.timeout(50) }), deps)
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  describe('a message of which a replacement was executed', () => {
    const replacedCid = (): Cid =>
      putCbor(view.store.blocks, message, { ...sent.message, gasPremium: sent.message.gasPremium - 1n })

    test('is answered with the replacement, if that is allowed', async () => {
      view.store.setHead(at(executed.height + 5))
      const found = await waitMessage(replacedCid(), options(0), deps)
      expect(found.cid.equals(cid)).toBe(true)
    })

    test('otherwise fails when the replacement turns up', async () => {
      const asked = replacedCid()
      view.store.setHead(at(executed.height - 1))
      const waiting = waitMessage(asked, options(0, { allowReplaced: false }), deps)
      expect(await settled(waiting)).toBe(false)
      view.store.setHead(executed)
      await expect(waiting).rejects.toThrow(
        `message was replaced: found message with equal nonce as the one we are looking for (F:${asked} n ${sent.message.nonce}, TS: ${cid} n${sent.message.nonce})`,
      )
    })

    test('and one that asks for something else always fails', async () => {
      const other = putCbor(view.store.blocks, message, { ...sent.message, value: sent.message.value + 1n })
      await expect(executedIn(executed, loadSought(view, other), { allowReplaced: true }, deps)).rejects.toThrow(
        'message was replaced: found message with equal nonce as the one we are looking for that is NOT a valid replacement message',
      )
    })
  })

  describe('a message whose nonce went to another one', () => {
    const other = (): Cid => putCbor(view.store.blocks, message, { ...sent.message, value: sent.message.value + 1n })

    test('is waited for still when only the look below the head meets that, as in Lotus', async () => {
      view.store.setHead(at(executed.height + 5))
      const waiting = waitMessage(other(), options(1, { signal: AbortSignal.timeout(50) }), deps)
      await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' })
    })

    test.each([
      ['below the head', 5],
      ['at the head', 0],
      ['in a new tipset', -2],
    ])('is given up, where that is asked for, when it lies deep enough: met %s', async (_, above) => {
      view.store.setHead(at(executed.height + above))
      const waiting = waitMessage(other(), options(8, { untilReplaced: true }), deps)
      for (const height of [above, 0, 7]) {
        if (height > above) view.store.setHead(at(executed.height + height))
        expect(await settled(waiting)).toBe(false)
      }
      view.store.setHead(at(executed.height + 8))
      await expect(waiting).rejects.toMatchObject({ code: 'MESSAGE_REPLACED' })
    })

    test.each([
      ['below the head', 1],
      ['at the head', 0],
    ])('is waited for again when that is reverted: met %s', async (_, above) => {
      view.store.setHead(at(executed.height + above))
      const waiting = waitMessage(other(), options(3, { untilReplaced: true }), deps)
      expect(await settled(waiting)).toBe(false)
      const fork = { ...firstBlock(view.store.parent(executed)), height: executed.height + 20 }
      view.store.putHeader(fork)
      view.store.setHead(createTipset([fork]))
      expect(await settled(waiting)).toBe(false)
      view.store.setHead(at(executed.height + 2))
      expect(await settled(waiting)).toBe(false)
      view.store.setHead(at(executed.height + 3))
      await expect(waiting).rejects.toMatchObject({ code: 'MESSAGE_REPLACED' })
    })
  })

  test('makes receipts again that a snapshot left out', async () => {
    view.store.setHead(executed)
    const root = executed.blocks[0]?.parentMessageReceipts as Cid
    const { blocks } = view.store
    const get = blocks.get.bind(blocks)
    let hidden = true
    blocks.get = (one) => (hidden && one.equals(root) ? undefined : get(one))
    const made: Tipset[] = []
    const vm: WaitDeps['vm'] = {
      executeTipset: async (tipset) => {
        made.push(tipset)
        hidden = false
        return { stateRoot: root, receiptsRoot: root }
      },
    }
    try {
      const found = await executedIn(executed, loadSought(view, cid), { allowReplaced: true }, { view, vm })
      expect(found?.receipt.exitCode).toBe(0)
      expect(made).toEqual([view.store.parent(executed)])
    } finally {
      blocks.get = get
    }
  })

  test('an unknown message is an error', () => {
    const [header] = view.store.head().key
    expect(() => loadSought(view, header as Cid)).toThrow(
      '%!w(*errors.errorString=&{failed to load message}): cbor input had wrong number of fields',
    )
  })
})
