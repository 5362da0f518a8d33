/** ChainExport over a session: the file that Lotus wrote, cut into chunks, and a client that does not read. */
import { beforeAll, describe, expect, it } from 'vitest'
import { carBlocks, readCarHeader } from '../../src/archive/car.ts'
import { concatBytes } from '../../src/base/bytes.ts'
import type { Clock } from '../../src/base/ports.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { MAX_EXPORTS } from '../../src/rpc/limits.ts'
import { chainExportMethods } from '../../src/rpc/methods/chainExport.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { missingShared, readSharedUnpacked } from '../support/shared.ts'

interface Frame {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
  readonly method?: string
  readonly params?: [number, string]
}

let pauses = 0
const timers = {
  setTimeout: (run: () => void, ms: number): (() => void) => {
    if (ms === 0) pauses++
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

describe.skipIf(missingShared('data/golden/wire') !== undefined)('ChainExport', () => {
  beforeAll(() => initCrypto())

  const clock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }

  function open(unread: () => number = () => 0, keep: number[] = [], time = clock) {
    const { view, executes } = openRecordedView('wire')
    const collect = (epochs: number | undefined): void => void keep.push(epochs ?? -1)
    const rows = chainExportMethods({ view, clock: time, timers, log: silentLog, collect })
    const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silentLog })
    const frames: Frame[] = []
    let woken: () => void = () => undefined
    const session = new RpcSession({
      engine,
      version: 'v1',
      permissions: () => new Set(['read', 'admin']),
      sink: {
        send: (text) => {
          frames.push(JSON.parse(text) as Frame)
          woken()
        },
        unreadBytes: unread,
        close: () => undefined,
      },
    })
    const call = (id: number, method: string, params: unknown[]): void =>
      session.receive(JSON.stringify({ jsonrpc: '2.0', id, method: `Filecoin.${method}`, params }))
    const until = async (test: () => boolean): Promise<void> => {
      while (!test())
        await new Promise<void>((resolve) => {
          woken = resolve
        })
    }
    return { session, frames, call, until, executes, head: view.store.head() }
  }

  it('gives the blocks of the recorded file in order, an empty chunk, and the end', async () => {
    const { frames, call, until, executes, head } = open()
    call(1, 'ChainExport', [0, false, []])
    await until(() => frames.at(-1)?.method === 'xrpc.ch.close')
    expect(frames[0]).toMatchObject({ id: 1, result: 1 })
    const chunks = frames.filter(({ method }) => method === 'xrpc.ch.val').map(({ params }) => params?.[1])
    expect(chunks.at(-1)).toBe('')
    const data = chunks.map((chunk) => new Uint8Array(Buffer.from(chunk as string, 'base64')))
    for (const chunk of data) expect(chunk.length).toBeLessThanOrEqual(1 << 16)
    const car = memorySource(concatBytes(...data))
    expect(readCarHeader(car).roots.map(String)).toEqual(head.key.map(String))
    const lines = new TextDecoder()
      .decode(readSharedUnpacked('data/golden/wire/export-0-0.cids.zst'))
      .trim()
      .split('\n')
    // The recorded chain lacks the actors' code; it is in bundles, on some machines.
    const expected = lines
      .filter((line) => executes || !line.includes('wasm'))
      .map((line) => line.split(' ').slice(0, 2).join(' '))
    expect([...carBlocks(car)].map(([cid, bytes]) => `${cid} ${bytes.length}`)).toEqual(expected)
  })

  it('gives way as soon as its turn is over, and ends with its client', async () => {
    let now = 0
    // Each look at it finds a turn over.
    const slow: Clock = { nowMs: () => now, monotonicMs: () => (now += 10) }
    const { session, frames, call, until } = open(undefined, [], slow)
    pauses = 0
    call(1, 'ChainExport', [0, false, []])
    await until(() => frames.at(-1)?.method === 'xrpc.ch.close')
    const blocks = new TextDecoder().decode(readSharedUnpacked('data/golden/wire/export-0-0.cids.zst')).split('\n')
    expect(pauses).toBeGreaterThan(blocks.filter((line) => !line.includes('wasm')).length / 2)
    call(2, 'ChainExport', [0, false, []])
    await new Promise((resolve) => setTimeout(resolve, 5))
    session.end()
    pauses = 0
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(pauses).toBeLessThanOrEqual(1)
  })

  it('waits for a client that does not read, and ends with it', async () => {
    let unread = 100 << 20
    const { session, frames, call, until } = open(() => unread)
    call(1, 'ChainExport', [2000, true, []])
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(frames.length).toBe(1)
    unread = 0
    await until(() => frames.length > 2)
    call(2, 'ChainExport', [2000, true, []])
    session.end()
    const { length } = frames
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(frames.length).toBe(length)
  })

  it('refuses a tipset that nobody has, and more exports than it can do', async () => {
    const { frames, call, until } = open()
    call(1, 'ChainExport', [0, false, [{ '/': 'bafy2bzacedjrqan2fwfvhfopi64yickki7miiksecglpeiavf7xueytnzevlu' }]])
    await until(() => frames.length > 0)
    expect(frames[0]?.error?.message).toMatch(/could not find/)
    for (let id = 2; id <= 2 + MAX_EXPORTS; id++) call(id, 'ChainExport', [0, false, []])
    const answers = frames.filter(({ id }) => id !== undefined && id > 1)
    expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: MAX_EXPORTS + 1 }, (_, i) => 2 + i))
    for (const { result } of answers.slice(0, MAX_EXPORTS)) expect(result).toBeTypeOf('number')
    expect(answers.at(-1)?.error?.message).toBe(`${MAX_EXPORTS} exports are running already`)
    // Who has ended makes room.
    await until(() => frames.filter(({ method }) => method === 'xrpc.ch.close').length === MAX_EXPORTS)
    call(9, 'ChainExport', [0, false, []])
    expect(frames.find(({ id }) => id === 9)?.result).toBeTypeOf('number')
  })

  it('ChainPrune starts a collection; what a store of this kind cannot do is refused', async () => {
    const kept: number[] = []
    const { frames, call, until } = open(undefined, kept)
    call(1, 'ChainPrune', [{ MovingGC: false, RetainState: 900 }])
    call(2, 'ChainPrune', [{ MovingGC: false, RetainState: 0 }])
    call(3, 'ChainHotGC', [{ Threshold: 0.5, Periodic: false, Moving: false }])
    await until(() => frames.length === 3)
    expect(kept).toEqual([900, -1])
    expect(frames.map(({ error }) => error?.message)).toEqual([
      undefined,
      undefined,
      'base blockstore does not support hot GC',
    ])
  })
})
