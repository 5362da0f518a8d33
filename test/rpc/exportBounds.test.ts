/** A client of an export that does not read: how much it may leave unread, and for how long. */
import { beforeAll, describe, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { EXPORT_STALLED_MS, EXPORT_UNREAD_BYTES } from '../../src/rpc/limits.ts'
import type { ChannelRow, ChannelSink } from '../../src/rpc/method.ts'
import { chainExportMethods } from '../../src/rpc/methods/chainExport.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { plainCall } from './forkingChain.ts'

/** An export as its client saw it. */
interface Exported {
  /** Its last chunk, the empty one, came. */
  readonly isWhole: boolean
  /** How long was waited in all, ms. */
  readonly waitedMs: number
  readonly warnings: readonly unknown[]
}

/** @param unread - bytes that the client has not read at a time since the start, ms */
async function exported(unread: (now: number) => number): Promise<Exported> {
  let now = 0
  const time = {
    nowMs: () => now,
    monotonicMs: () => now,
    // Nothing else needs time.
    setTimeout: (run: () => void, ms: number) => {
      now += ms
      queueMicrotask(run)
      return () => undefined
    },
  }
  const warnings: unknown[] = []
  const log = { ...silentLog, warn: (_: string, info?: object) => void warnings.push(info) }
  const { view } = openRecordedView('wire')
  const rows = chainExportMethods({ view, clock: time, timers: time, log })
  const { subscribe } = rows.find(({ name }) => name === 'ChainExport') as ChannelRow
  let last: Uint8Array | undefined
  await new Promise<void>((close) => {
    const sink: Pick<ChannelSink<unknown>, 'value' | 'close' | 'unreadBytes'> = {
      value: (chunk) => {
        last = chunk as Uint8Array
      },
      unreadBytes: () => unread(now),
      close,
    }
    subscribe([0, false, []], sink as ChannelSink<unknown>, plainCall())
  })
  return { isWhole: last?.length === 0, waitedMs: now, warnings }
}

describe.skipIf(missingShared('data/golden/wire') !== undefined)('an export', () => {
  beforeAll(() => initCrypto())

  it('goes on as long as no more is unread than may be, and waits where a byte more is', async () => {
    expect(await exported(() => EXPORT_UNREAD_BYTES)).toEqual({ isWhole: true, waitedMs: 0, warnings: [] })
    const waiting = await exported((now) => EXPORT_UNREAD_BYTES + (now < 1000 ? 1 : 0))
    expect(waiting).toEqual({ isWhole: true, waitedMs: 1000, warnings: [] })
  })

  it('waits for a client that reads in time, and ends for one that does not', async () => {
    const readsAfter = (ms: number) => exported((now) => (now < ms ? EXPORT_UNREAD_BYTES + 1 : 0))
    expect(await readsAfter(EXPORT_STALLED_MS)).toMatchObject({ isWhole: true, warnings: [] })
    const ended = await readsAfter(EXPORT_STALLED_MS + 10)
    expect(ended).toMatchObject({ isWhole: false, warnings: [{ message: 'the client does not read' }] })
    expect(ended.waitedMs).toBeLessThanOrEqual(EXPORT_STALLED_MS + 10)
  })
})
