/** The parts of the monitor that know no document. */
import { describe, expect, it } from 'vitest'
import { hashOf, serverUrl, targetOfHash } from '../../../examples/monitor/connect/target.ts'
import { ChainWindow } from '../../../examples/monitor/model/chainWindow.ts'
import { Finality, finalityShare } from '../../../examples/monitor/model/finality.ts'
import {
  formatAge,
  formatAmount,
  formatCount,
  formatGasPrice,
  shorten,
} from '../../../examples/monitor/model/format.ts'
import { freshness } from '../../../examples/monitor/model/freshness.ts'
import { Pool } from '../../../examples/monitor/model/pool.ts'
import { loadSettings, saveSettings } from '../../../examples/monitor/model/settings.ts'
import { type Found, stageOf, type TrackerView } from '../../../examples/monitor/model/tracker.ts'
import { isIncoming, readAddress, TransferLog } from '../../../examples/monitor/model/watch.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import type { AddressedTransfers } from '../../../src/transfers/tipsetTransfers.ts'
import { idAddress, parseAddress } from '../../../src/types/address.ts'
import { type SignedMessage, signedMessageCid } from '../../../src/types/signedMessage.ts'
import { type Tipset, type TipsetKey, tipsetKeyText } from '../../../src/types/tipset.ts'
import { chain } from './fakeNode.ts'

const WHO = parseAddress('f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za')

function windowOf(tipsets: readonly Tipset[], keep = 905): ChainWindow {
  const known = new Map(tipsets.map((one) => [tipsetKeyText(one.key), one]))
  const tipset = (key: TipsetKey): Promise<Tipset> => Promise.resolve(known.get(tipsetKeyText(key)) as Tipset)
  return new ChainWindow(
    {
      tipset,
      below: async (child, count) => {
        const out: Tipset[] = []
        for (let key = child.parents; out.length < count; ) {
          const one = await tipset(key)
          out.push(one)
          if (one.height === 0) break
          key = one.blocks[0]?.parents ?? []
        }
        return out
      },
    },
    't',
    keep,
  )
}

function message(nonce: bigint, value = 1n): SignedMessage {
  return {
    message: {
      version: 0n,
      to: idAddress(100),
      from: WHO,
      nonce,
      value,
      gasLimit: 1n,
      gasFeeCap: 1n,
      gasPremium: 1n,
      method: 0n,
      params: new Uint8Array(0),
    },
    signature: { type: 1, data: new Uint8Array(65) },
  } as unknown as SignedMessage
}

describe('window of the chain', () => {
  it('shows null rounds between tipsets', async () => {
    const tipsets = chain([0, 1, 4])
    const window = windowOf(tipsets)
    await window.follow(tipsets[2] as Tipset, 10)
    expect(window.epochs(10).map(({ height, tipset }) => [height, tipset?.miners.length])).toEqual([
      [4, 3],
      [3, undefined],
      [2, undefined],
      [1, 3],
      [0, 1],
    ])
    expect(window.blockCounts()).toEqual([1, 3, 0, 0, 3])
  })

  it('follows a reorganisation and says what was reverted', async () => {
    const base = chain([0, 1, 2])
    const left = chain([3, 4], base[2])
    const right = chain([3, 5, 6], base[2], 9)
    const window = windowOf([...base, ...left, ...right])
    await window.follow(left[1] as Tipset, 10)
    const { reverted, applied } = await window.follow(right[2] as Tipset, 10)
    expect(reverted.map(({ height }) => height)).toEqual([4, 3])
    expect(applied.map(({ height }) => height)).toEqual([3, 5, 6])
    expect(window.tipsets.map(({ height }) => height)).toEqual([0, 1, 2, 3, 5, 6])
    expect((await window.follow(right[1] as Tipset, 10)).reverted.map(({ height }) => height)).toEqual([6])
    expect(window.head?.height).toBe(5)
  })

  it('extends down to genesis, and forgets what is too old', async () => {
    const tipsets = chain(Array.from({ length: 30 }, (_, i) => i))
    const window = windowOf(tipsets)
    await window.follow(tipsets[29] as Tipset, 5)
    expect(window.tipsets[0]?.height).toBe(24)
    while (!window.isWhole) await window.extend(7)
    expect(window.tipsets.length).toBe(30)
    const short = windowOf(tipsets, 10)
    await short.follow(tipsets[20] as Tipset, 5)
    while (!short.isWhole) await short.extend(7)
    await short.follow(tipsets[29] as Tipset, 5)
    expect(short.tipsets[0]?.height).toBe(19)
  })
})

describe('finality', () => {
  it('rises with depth and is final where the calculation says so', async () => {
    // Five blocks in each epoch: Lotus' calculator gives about 30 epochs.
    const tipsets = chain(Array.from({ length: 120 }, (_, i) => i))
    const window = windowOf(tipsets)
    await window.follow(tipsets[119] as Tipset, 120)
    const finality = Finality.of(window)
    const shares = [0, 5, 20, 200].map((depth) => finalityShare(finality.at(119 - depth)))
    expect(shares[0]).toBe(0)
    expect(shares).toEqual([...shares].sort((a, b) => a - b))
    expect(finality.at(119 - finality.depth).isFinal).toBe(true)
    expect(finality.at(119 - finality.depth + 1).isFinal).toBe(false)
  })
})

describe('a message', () => {
  const cid = signedMessageCid(message(3n)).toString()
  const sender = { from: WHO.toString('f'), nonce: 3n }
  const found: Found = { cid, height: 10, tipset: [], exitCode: 0, reason: undefined, gasUsed: 5n }

  function view(over: Partial<TrackerView>): TrackerView {
    return {
      head: 10,
      pool: new Pool(),
      inclusion: () => undefined,
      find: () => Promise.resolve(undefined),
      confirmations: 5,
      finalDepth: 30,
      ...over,
    }
  }

  it.each<[string, Partial<TrackerView>]>([
    ['unknown', {}],
    ['included', { inclusion: () => ({ height: 9, tipset: [] }) }],
    ['executed', { find: () => Promise.resolve(found) }],
    ['executed', { find: () => Promise.resolve(found), head: 14 }],
    ['confirmed', { find: () => Promise.resolve(found), head: 15 }],
    ['confirmed', { find: () => Promise.resolve(found), head: 39 }],
    ['final', { find: () => Promise.resolve(found), head: 40 }],
    ['replaced', { find: () => Promise.resolve({ ...found, cid: 'other' }) }],
  ])('is %s', async (at, over) => {
    expect((await stageOf(cid, sender, view(over))).at).toBe(at)
  })

  it('is pending in the pool, and replaced by another of its nonce', async () => {
    const pool = new Pool()
    pool.reset([message(3n)])
    expect(await stageOf(cid, sender, view({ pool }))).toEqual({ at: 'pending' })
    const replaced = pool.update({ type: 'add', message: message(3n, 2n) })
    expect(replaced?.cid).toBe(cid)
    const by = signedMessageCid(message(3n, 2n)).toString()
    expect(await stageOf(cid, sender, view({ pool }))).toEqual({ at: 'replaced', by, executed: false })
  })
})

describe('pool', () => {
  it('groups by sender and sums what they would move', () => {
    const pool = new Pool()
    pool.reset([message(4n, 2n), message(3n, 5n)])
    const [sender] = pool.senders('t')
    expect(sender?.from).toBe(WHO.toString('t'))
    expect(sender?.messages.map((one) => one.message.message.nonce)).toEqual([3n, 4n])
    expect(sender?.value).toBe(7n)
    pool.update({ type: 'remove', message: message(3n, 5n) })
    expect(pool.size).toBe(1)
  })
})

describe('transfers', () => {
  function moved(height: number, value: bigint): AddressedTransfers {
    const key = [blockCid(new Uint8Array([height]))]
    return {
      tipset: key,
      height,
      root: key[0] as never,
      fees: [],
      addressOf: new Map([[100n, WHO]]),
      transfers: [
        {
          kind: 'message',
          message: null,
          index: 0,
          path: [],
          from: 101n,
          to: 100n,
          toAddress: WHO,
          value,
          method: 0n,
        },
      ],
    }
  }

  it('are found by either name of an address; a reorganisation takes its own back', () => {
    const log = new TransferLog(10)
    log.apply([], [moved(1, 5n), moved(2, 6n), moved(3, 0n)])
    expect(log.of(WHO.toString('f')).map(({ value }) => value)).toEqual([6n, 5n])
    expect(log.of('f0100').length).toBe(2)
    expect(isIncoming(log.of('f0100')[0] as never, 'f0100')).toBe(true)
    expect(isIncoming(log.of('f0101')[0] as never, 'f0101')).toBe(false)
    log.apply([], [moved(2, 6n)])
    expect(log.of('f0100').length, 'told twice is booked once').toBe(2)
    log.apply([moved(2, 6n)], [])
    expect(log.of('f0100').map(({ value }) => value)).toEqual([5n])
  })

  it('reads addresses as people paste them', () => {
    expect(readAddress(` ${WHO.toString('t')} `).toString('f')).toBe(WHO.toString('f'))
    // The address of a contract in Lotus' documentation: 0xff… of an ID is another matter.
    expect(readAddress('0x52963ef50e27e06d72d59fcb4f3c2a687be3cfef').toString('f')).toBe(
      'f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa',
    )
    expect(() => readAddress('f1abc')).toThrow()
    expect(() => readAddress('0x12')).toThrow()
  })
})

describe('what is remembered', () => {
  it('comes back, and what is not ours is ignored', () => {
    const stored = new Map<string, string>()
    const storage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (k: string, v: string) => void stored.set(k, v),
    }
    const settings = { watched: [{ address: 'f01', label: 'a' }], tracked: ['bafy'], confirmations: 9 }
    expect(saveSettings(storage, settings)).toBe(true)
    expect(loadSettings(storage)).toEqual(settings)
    for (const key of stored.keys()) stored.set(key, '{"watched":[1,{"address":2}],"tracked":"x","confirmations":-1}')
    expect(loadSettings(storage)).toEqual({ watched: [], tracked: [], confirmations: 5 })
    for (const key of stored.keys()) stored.set(key, '{')
    expect(loadSettings(storage).confirmations).toBe(5)
  })

  it('is done without where storage refuses', () => {
    const refuse = (): never => {
      throw new Error('SecurityError')
    }
    expect(saveSettings({ getItem: refuse, setItem: refuse }, loadSettings({ getItem: refuse, setItem: refuse }))).toBe(
      false,
    )
  })
})

describe('print', () => {
  it.each([
    [0n, '0'],
    [1n, '< 0.000001'],
    [10n ** 18n, '1'],
    [1234567_890000000000000000n, '1\u202f234\u202f567.89'],
    [999999_999999999999999999n, '999\u202f999.999999…'],
    [-5n * 10n ** 17n, '−0.5'],
  ])('%s attoFIL', (value, text) => {
    expect(formatAmount(value).text).toBe(text)
  })

  it.each([
    [100n, '100', 'attoFIL'],
    [803_106n, '803\u202f106', 'attoFIL'],
    [58_617_000n, '0.0586', 'nanoFIL'],
    [2_500_000_000n, '2.50', 'nanoFIL'],
    [1_234_000_000_000n, '1\u202f234', 'nanoFIL'],
  ])('a gas price of %s', (value, text, unit) => {
    expect(formatGasPrice(value)).toMatchObject({ text, unit })
  })

  it('counts, ages, long texts', () => {
    expect([formatCount(1234567), formatAge(5), formatAge(600), formatAge(7500), formatAge(200_000)]).toEqual([
      '1\u202f234\u202f567',
      '5 s',
      '10 min',
      '2 h 5 min',
      '2 d',
    ])
    expect(shorten('f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za')).toBe('f1abjxfb…2p3za')
    expect(shorten('f0100')).toBe('f0100')
  })
})

describe('the node that is asked', () => {
  it.each([
    ['127.0.0.1:1234', 'ws://127.0.0.1:1234/rpc/v1'],
    ['https://node.example', 'wss://node.example/rpc/v1'],
    ['wss://node.example/rpc/v0', 'wss://node.example/rpc/v0'],
    ['ftp://node.example', undefined],
    ['', undefined],
  ])('%s', (text, url) => {
    expect(serverUrl(text)).toBe(url)
  })

  it('stands in the address of the page', () => {
    for (const target of [
      { kind: 'server', url: 'ws://127.0.0.1:1234/rpc/v1' },
      { kind: 'local' },
      { kind: 'follow', peer: 'http://127.0.0.1:1234' },
    ] as const) {
      expect(targetOfHash(hashOf(target))).toEqual(target)
    }
    expect(targetOfHash('')).toBeUndefined()
  })
})

it('calls a head stale when it is more than three epochs behind the clock', () => {
  expect(freshness(1000, 1090, 30)).toEqual({ at: 'fresh' })
  expect(freshness(1000, 1091, 30)).toEqual({ at: 'stale', epochs: 3 })
  expect(freshness(1000, 1121, 30)).toEqual({ at: 'stale', epochs: 4 })
  expect(freshness(1000, 900, 30)).toEqual({ at: 'ahead', epochs: 3 })
})
