/** Methods about synchronisation, by a real syncer on a local chain. */

import { beforeAll, expect, it } from 'vitest'
import { finish } from '../../../src/base/steps.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { blockMsg, toBlockMsg } from '../../../src/p2p/gossip/blockMsg.ts'
import type { CallContext } from '../../../src/rpc/method.ts'
import { type SyncControl, syncMethods } from '../../../src/rpc/methods/sync.ts'
import { permissionsUpTo } from '../../../src/rpc/permission.ts'
import { submitBlock } from '../../../src/sync/submitBlock.ts'
import type { SyncState } from '../../../src/sync/syncState.ts'
import { type BlockHeader, headerCid } from '../../../src/types/blockHeader.ts'
import { firstBlock, type Tipset } from '../../../src/types/tipset.ts'
import { createFollower, RecordedSource, settled, withMessages } from '../../sync/follower.ts'
import { createWorld } from '../../sync/world.ts'

const json = { addressPrefix: 't' } as const
const signal = new AbortController().signal
const call: CallContext = {
  version: 'v1',
  permissions: new Set<string>(permissionsUpTo('admin')),
  json,
  signal,
  ended: signal,
  notify: undefined,
  walk: finish,
}

beforeAll(async () => {
  await initCrypto()
})

it('tell and are told', async () => {
  const world = createWorld(1)
  const chain = await world.chain(world.genesis, 4)
  const { syncer, store, view } = createFollower(world, { mode: 'execute', source: new RecordedSource(world.view) })
  const published: BlockHeader[] = []
  const control: SyncControl = {
    whyBad: (cid) => syncer.whyBad(cid),
    markBad: (cid) => syncer.markBad(cid),
    unmarkBad: (cid) => syncer.unmarkBad(cid),
    unmarkAllBad: () => syncer.unmarkAllBad(),
    checkpoint: (key) => syncer.checkpoint(key),
    validateTipset: (key) => syncer.validateTipset(key),
    submitBlock: (block, ended) =>
      submitBlock({ view, syncer, publish: async (header) => void published.push(header) }, block, ended),
    onIncomingBlock: (listener) => syncer.onIncomingBlock(listener),
  }
  const rows = syncMethods({ state: () => syncer.state(), presumed: () => undefined, control })
  const ask = async (name: string, ...params: Json[]): Promise<Json> => {
    const row = rows.find((one) => one.name === name)
    if (row?.kind !== 'call') throw new TypeError(`no method ${name}`)
    const values = row.params.map(({ codec }, i) => codec.fromJson(params[i], json))
    return row.result.toJson(await row.handle(values, call), json)
  }
  const keyJson = (tipset: Tipset): Json => tipset.key.map((cid) => ({ '/': cid.toString() }))
  const [first, second, third, fourth] = chain as [Tipset, Tipset, Tipset, Tipset]
  const name = { '/': headerCid(firstBlock(third)).toString() }

  expect(await ask('SyncState')).toMatchObject({
    ActiveSyncs: [{ WorkerID: 0, Stage: 0, Start: '0001-01-01T00:00:00Z', End: '0001-01-01T00:00:00Z', Message: '' }],
    VMApplied: 0,
  })
  const heard: string[] = []
  const channel = rows.find((one) => one.name === 'SyncIncomingBlocks')
  if (channel?.kind !== 'channel') throw new TypeError('no channel')
  const sink = {
    value: (header: unknown) => heard.push(headerCid(header as BlockHeader).toString()),
    close: () => {},
    unreadBytes: () => 0,
  }
  const end = channel.subscribe([], sink, call)
  syncer.offerTipset('peer', withMessages(world.view, second))
  await settled(syncer)
  expect(heard).toEqual(second.key.map(String))
  end()
  expect(await ask('SyncState')).toMatchObject({
    ActiveSyncs: [
      { WorkerID: 0, Stage: 4, Height: second.height, Target: { Cids: keyJson(second) }, Base: { Height: 0 } },
    ],
  })

  expect(await ask('EthSyncing')).toBe(false)

  expect(await ask('SyncCheckBad', name)).toBe('')
  expect(await ask('SyncMarkBad', name)).toBeNull()
  expect(await ask('SyncCheckBad', name)).toBe('manually marked bad')
  const submitted = blockMsg.toJson(
    toBlockMsg({ header: firstBlock(third), messages: world.view.blockMessages(firstBlock(third)) }),
    json,
  )
  await expect(ask('SyncSubmitBlock', submitted)).rejects.toThrow('manually marked bad')
  expect(await ask('SyncUnmarkBad', name)).toBeNull()
  expect(await ask('SyncSubmitBlock', submitted)).toBeNull()
  expect(store.head().height).toBe(third.height)
  expect(published.map((one) => headerCid(one).toString())).toEqual([name['/']])
  expect(await ask('SyncMarkBad', name)).toBeNull()
  expect(await ask('SyncUnmarkAllBad')).toBeNull()
  expect(await ask('SyncCheckBad', name)).toBe('')

  expect(await ask('SyncValidateTipset', keyJson(first))).toBe(true)
  await expect(ask('SyncValidateTipset', keyJson(fourth))).rejects.toThrow('could not find')
  await expect(ask('SyncCheckpoint', [])).rejects.toThrow('called with empty tsk')
  // Of a tipset that is not here: followed first.
  expect(await ask('SyncCheckpoint', keyJson(fourth))).toBeNull()
  expect(store.checkpoint()?.height).toBe(fourth.height)
  expect(store.head().height).toBe(fourth.height)
  expect(headerCid(firstBlock(store.head())).equals(headerCid(firstBlock(fourth)))).toBe(true)
  await syncer.stop()
})

it('eth_syncing tells of the last worker that does something', () => {
  const { node } = createWorld(1)
  const base = node.store.genesis()
  const worker = {
    workerId: 0,
    base,
    target: { ...base, height: 300 },
    height: 17,
    startMs: 0,
    endMs: undefined,
    message: '',
  }
  const answer = (activeSyncs: SyncState['activeSyncs']): Json => {
    const rows = syncMethods({ state: () => ({ activeSyncs, vmApplied: 0 }), presumed: () => undefined })
    const row = rows.find((one) => one.name === 'EthSyncing')
    if (row?.kind !== 'call') throw new TypeError('no method')
    return row.result.toJson(row.handle([], call), json)
  }
  const progress = { startingBlock: '0x0', currentBlock: '0x11', highestBlock: '0x12c' }
  expect(
    answer([
      { ...worker, stage: 3 },
      { ...worker, stage: 0, height: 5 },
    ]),
  ).toEqual(progress)
  expect(
    answer([
      { ...worker, stage: 5 },
      { ...worker, stage: 4 },
    ]),
  ).toBe(false)
  // @see data/golden/nv28/session.jsonl.zst: a node that has just started
  expect(() => answer([{ ...worker, target: null, stage: 0 }])).toThrow('missing syncing information, try again')
})

it('of a node that follows nobody say so', async () => {
  const rows = syncMethods({ state: () => ({ activeSyncs: [], vmApplied: 0 }), presumed: () => 'seals' })
  const { node } = createWorld(1)
  const cid = headerCid(firstBlock(node.store.genesis()))
  const handle = (name: string): unknown => {
    const row = rows.find((one) => one.name === name)
    return row?.kind === 'call' ? row.handle([cid], call) : undefined
  }
  expect(handle('SyncCheckBad')).toBe('')
  expect(handle('SyncPresumed')).toBe('seals')
  expect(() => handle('SyncMarkBad')).toThrow('not supported')
})
