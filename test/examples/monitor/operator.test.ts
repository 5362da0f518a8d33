/** What the monitor makes of what it knows: steps of a sync, fee caps, samples, calls, queries, limits. */
import { describe, expect, it } from 'vitest'
import { feeCapsOf } from '../../../examples/monitor/model/feeCaps.ts'
import { sampledHeights } from '../../../examples/monitor/model/feeHistory.ts'
import { candidates, nonceGaps } from '../../../examples/monitor/model/heldUp.ts'
import { countCalls, replayOf } from '../../../examples/monitor/model/lookup/callTree.ts'
import { readQuery } from '../../../examples/monitor/model/lookup/query.ts'
import { Pool } from '../../../examples/monitor/model/pool.ts'
import { type StatusView, statusOf } from '../../../examples/monitor/model/status.ts'
import { syncStepOf } from '../../../examples/monitor/model/syncSteps.ts'
import { codeCids } from '../../../src/rpc/types/state.ts'
import type { ActiveSync } from '../../../src/sync/syncState.ts'
import { idAddress, parseAddress } from '../../../src/types/address.ts'
import type { SignedMessage } from '../../../src/types/signedMessage.ts'
import type { Tipset } from '../../../src/types/tipset.ts'

const WHO = 'f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za'

function message(nonce: bigint, gasFeeCap = 1n): SignedMessage {
  return {
    message: {
      version: 0n,
      to: idAddress(100),
      from: parseAddress(WHO),
      nonce,
      value: 1n,
      gasLimit: 1n,
      gasFeeCap,
      gasPremium: 1n,
      method: 0n,
      params: new Uint8Array(0),
    },
    signature: { type: 1, data: new Uint8Array(65) },
  } as unknown as SignedMessage
}

function poolOf(...messages: SignedMessage[]): Pool {
  const pool = new Pool()
  pool.reset(messages)
  return pool
}

describe('word for the state', () => {
  const view = (more: object): StatusView =>
    ({ link: { at: 'live' }, fault: undefined, freshness: { at: 'fresh' }, head: {}, news: {}, ...more }) as StatusView
  it.each([
    ['In sync', {}],
    ['Offline', { link: { at: 'offline' }, fault: { kind: 'withheld' } }],
    ['Behind 12', { freshness: { at: 'stale', epochs: 12 } }],
    ['Ahead 4', { freshness: { at: 'ahead', epochs: 4 } }],
    ['Waiting', { head: undefined, freshness: undefined }],
    ['Syncing', { head: undefined, freshness: undefined, news: { syncStep: {} } }],
    ['Fault', { fault: { kind: 'contradiction' } }],
    ['Unproven', { news: { light: { trouble: 'no source' } } }],
  ])('is %s', (word, more) => {
    expect(statusOf(view(more)).word).toBe(word)
  })
})

describe('steps of a sync', () => {
  const at = (height: number): Tipset => ({ height }) as Tipset
  const sync = (stage: number, height: number): ActiveSync => ({
    ...{ workerId: 1, base: at(100), target: at(200), startMs: 0, endMs: undefined, message: '' },
    stage,
    height,
  })
  it('counts headers from the target down, messages from the base up', () => {
    expect(syncStepOf({ activeSyncs: [sync(1, 175)], vmApplied: 0 })).toEqual({
      ...{ step: 'headers', height: 175, target: 200, share: 0.25 },
    })
    expect(syncStepOf({ activeSyncs: [sync(3, 125)], vmApplied: 0 })).toMatchObject({ step: 'messages', share: 0.25 })
    expect(syncStepOf({ activeSyncs: [sync(1, 0)], vmApplied: 0 })?.share, 'before the first answer').toBe(0)
  })
  it('tells of none that is idle, complete or failed', () => {
    expect(syncStepOf({ activeSyncs: [sync(0, 0), sync(4, 200), sync(5, 150)], vmApplied: 0 })).toBeUndefined()
  })
})

describe('fee caps against the base fee', () => {
  it('are counted by powers of two from the base fee, and what is below it never with what pays', () => {
    const { classes, paying, waiting } = feeCapsOf(
      poolOf(message(0n, 1000n), message(1n, 999n), message(2n, 1999n), message(3n, 2000n), message(4n, 10n ** 12n)),
      1000n,
    )
    expect([paying, waiting]).toEqual([4, 1])
    expect(classes.map(({ count }) => count)).toEqual([0, 0, 0, 0, 1, 2, 1, 0, 0, 1])
    expect(classes.filter(({ pays }) => pays).map(({ from }) => from)).toEqual([1000, 2000, 4000, 8000, 16_000])
  })
})

describe('samples of the base fee', () => {
  it('are at most 144, and stay where they are while the head moves', () => {
    const day = sampledHeights(100_000, 2880)
    expect([day[0], day.at(-1), day.length]).toEqual([97_120, 99_980, 144])
    const next = sampledHeights(100_007, 2880)
    expect(next.slice(0, 143)).toEqual(day.slice(1))
    expect(sampledHeights(50, 2880)).toEqual([0, 20, 40])
  })
})

describe('messages that wait', () => {
  it('have a gap where a nonce is missing between two of a watched sender', () => {
    const pool = poolOf(message(4n), message(5n), message(8n))
    expect(nonceGaps(pool, [WHO])).toEqual([{ from: WHO, missing: 6n, waiting: 8n }])
    expect(nonceGaps(pool, ['f0101'])).toEqual([])
  })
  it('are asked about when they are tracked, or the first of a watched sender', () => {
    const pool = poolOf(message(5n), message(4n), message(6n))
    const nonces = (tracked: string[], senders: string[]): bigint[] =>
      candidates(pool, tracked, senders).map((one) => one.message.message.nonce)
    expect(nonces([], [WHO])).toEqual([4n])
    const last = pool.senders('f')[0]?.messages[2]?.cid as string
    expect(nonces([last, 'bafyother'], [])).toEqual([6n])
  })
})

describe('calls of a message', () => {
  it('are read out of the answer to StateReplay', () => {
    const call = (To: string, Subcalls: object[], ExitCode = 0): object => ({
      Msg: { From: 'f0100', To, Value: '5', Method: 2, Params: null },
      MsgRct: { ExitCode, Return: null },
      Subcalls,
    })
    const replay = replayOf({
      MsgRct: { ExitCode: 0, Return: null, GasUsed: 77 },
      GasCost: { TotalCost: '123456789012345678901' },
      ExecutionTrace: call('f01', [call('f02', [call('f03', [], 16)]), call('f04', null as never)]),
      Error: '',
    } as never)
    expect(replay.gasUsed).toBe(77n)
    expect(replay.cost).toBe(123_456_789_012_345_678_901n)
    expect(countCalls(replay.call)).toBe(4)
    expect(replay.call.calls[0]?.calls[0]).toMatchObject({ to: 'f03', value: 5n, exitCode: 16 })
  })
  it('are empty where the answer is not what it should be', () => {
    expect(countCalls(replayOf(null).call)).toBe(1)
  })
})

describe('what is looked for', () => {
  it('is told apart', () => {
    expect(readQuery('4 817')).toEqual({ kind: 'epoch', height: 4817 })
    expect(readQuery(`0x${'ab'.repeat(32)}`).kind).toBe('hash')
    expect(readQuery(`0x${'cd'.repeat(20)}`)).toMatchObject({ kind: 'address' })
    expect(readQuery(` ${WHO.replace('f', 't')} `)).toEqual({ kind: 'address', address: WHO })
    const cid = 'bafy2bzacecnamqgqmifpluoeldx7zzglxcljo6oja4vrmtj7432rphldpdmm2'
    expect(readQuery(`${cid} ${cid}`)).toMatchObject({ kind: 'cids', cids: { length: 2 } })
    expect(() => readQuery('nonsense')).toThrow()
    expect(() => readQuery('  ')).toThrow('can be looked for')
  })
})

describe('code CIDs', () => {
  it('are read as they are written', () => {
    const text = { account: { '/': 'bafk2bzacedpmhtrp2kdjoga2phrbi3f7z7wn25s3tluxoagcu7hsg2ppktxbw' } }
    const context = { addressPrefix: 'f' } as const
    const read = codeCids.fromJson(text, context as never)
    expect(read.get('account')?.toString()).toBe(text.account['/'])
    expect(() => codeCids.fromJson([], context as never)).toThrow('cannot unmarshal array')
  })
})
