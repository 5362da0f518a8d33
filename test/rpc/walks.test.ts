/** What reads much of a state or of the chain gives way all the time, and ends when its caller goes. */
import { describe, expect, test } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ActorStates } from '../../src/chain/actorStates.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import type { ComputeOutput } from '../../src/chain/vm.ts'
import type { Json } from '../../src/codec/description.ts'
import { json, list, nullable, text } from '../../src/codec/description.ts'
import { EthIndex, ethBlockHash } from '../../src/eth/ethIndex.ts'
import { getCbor, LayeredBlockstore, MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { PremiumEstimator } from '../../src/mempool/gas/gasPremium.ts'
import type { MessageGasDeps } from '../../src/mempool/gas/messageGas.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { type Caller, RpcEngine } from '../../src/rpc/engine.ts'
import { method, param } from '../../src/rpc/method.ts'
import { chainMethods } from '../../src/rpc/methods/chain.ts'
import { gasMethods } from '../../src/rpc/methods/gas.ts'
import { historyMethods } from '../../src/rpc/methods/history.ts'
import { minerMethods } from '../../src/rpc/methods/miner.ts'
import { networkMethods } from '../../src/rpc/methods/network.ts'
import { nodeMethods } from '../../src/rpc/methods/node.ts'
import { registryMethods } from '../../src/rpc/methods/registry.ts'
import { sectorMethods } from '../../src/rpc/methods/sectors.ts'
import { stateMethods } from '../../src/rpc/methods/state.ts'
import { transferMethods } from '../../src/rpc/methods/transfers.ts'
import type { StreamedOutcome } from '../../src/rpc/outcome.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { type PowerClaim, powerClaim, powerState } from '../../src/state/power.ts'
import { TransferReader } from '../../src/transfers/tipsetTransfers.ts'
import type { ActorState } from '../../src/types/actor.ts'
import { addressFromBytes, idAddress } from '../../src/types/address.ts'
import { POWER_ID } from '../../src/types/singletons.ts'
import { firstBlock, type Tipset, type TipsetKey, tipsetKeyText } from '../../src/types/tipset.ts'
import { openGolden } from '../support/archives.ts'
import { missingShared } from '../support/shared.ts'
import { SlowTime } from '../support/slowTime.ts'
import { silentLog } from './stubTable.ts'

let golden: ReturnType<typeof openGolden> | undefined

function open() {
  golden ??= openGolden('nv28')
  const { store: archive, network } = golden
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
  const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
  const beaconRound = (epoch: number): number => epoch + 100
  const view = new ChainView({ store, network, beaconRound })
  const never = (): never => {
    throw new Error('not asked')
  }
  const vm = { tipsetState: never, executeTipset: never, run: never, compute: never, callWithGas: never }
  // The recorded chain is longer than this finality.
  const quick = { ...network, protocol: { ...network.protocol, chainFinality: 60 } }
  const node = {
    ...{ view: new ChainView({ store, network: quick, beaconRound }), vm, logs: undefined },
    ...{ clock: { nowMs: () => 0, monotonicMs: () => 0 }, gossip: () => ({ messages: [], blocks: [], scores: [] }) },
  }
  const chain = {
    loadTipset: (key: TipsetKey) => store.tipset(key),
    tipsetMessages: (tipset: Tipset) => view.tipsetMessages(tipset),
  }
  const gas = { premiums: new PremiumEstimator({ chain, normal: () => 0 }) } as unknown as MessageGasDeps
  // Nothing was executed in a tipset; what is looked at is which are.
  const computeCalls = async (tipset: Tipset): Promise<ComputeOutput> => ({
    ...{ root: firstBlock(tipset).parentStateRoot, trace: [] },
  })
  const transfers = new TransferReader(view, { ...vm, computeCalls })
  const rows = [
    ...gasMethods({ view, gas }),
    ...sectorMethods(view),
    ...chainMethods({ view, vm, setHead: never }),
    ...stateMethods({ view, vm, states: new ActorStates(blocks, view.codes) }),
    ...minerMethods({ view, vm, signBlock: never }),
    ...networkMethods(view),
    ...nodeMethods(node),
    ...registryMethods(view),
    ...transferMethods({ view, transfers }),
    ...historyMethods({ view, vm, index: undefined, transfers }),
  ]
  const time = new SlowTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const context = { addressPrefix: 't' } as const
  const table = createMethodTable(rows)
  const plain = new RpcEngine({ table, json: context, log: silentLog })
  const patient = new RpcEngine({ table, json: context, log: silentLog, queues })
  // Nobody's deadline comes.
  const standing = new CostQueues({ clock: { nowMs: () => 0, monotonicMs: () => 0 }, timers: time })
  const sending = new RpcEngine({ table, json: context, log: silentLog, queues: standing })
  const ask = async (engine: RpcEngine, name: string, params: Json[], caller = new AbortController()) => {
    return await engine.dispatch({ id: 1, method: `Filecoin.${name}`, params }, asker(caller), undefined)
  }
  return { view, time, table, plain, patient, sending, ask }
}

const asker = ({ signal }: AbortController): Caller => ({
  ...{ version: 'v1', permissions: new Set(['read', 'write']), signal, ended: signal, notify: undefined },
  name: { name: 'me', hasToken: false },
})

describe.skipIf(missingShared('data/golden/nv28') !== undefined)('a walk', () => {
  const head: Json = []
  const genesisOf = (): Json[] => {
    const { view } = open()
    const { parentStateRoot } = firstBlock(view.store.genesis())
    return [{ '/': String(parentStateRoot) }, { '/': String(firstBlock(view.store.head()).parentStateRoot) }]
  }
  const keyOf = ({ key }: Tipset): Json => key.map((cid) => ({ '/': String(cid) }))
  const headOf = (): Json => keyOf(open().view.store.head())
  const startOf = (): Json => keyOf(open().view.store.genesis())
  test.each<[string, Json[], number]>([
    ['StateListActors', [head], 30],
    ['StateListMiners', [head], 2],
    ['StateMinerFaults', ['t01000', head], 40],
    ['StateMinerRecoveries', ['t01000', head], 40],
    ['StateMinerActiveSectors', ['t01000', head], 40],
    ['StateMinerSectorCount', ['t01000', head], 40],
    ['StateMarketParticipants', [head], 1],
    ['StateMarketDeals', [head], 2],
    ['StateGetAllClaims', [head], 2],
    ['StateCirculatingSupply', [head], 30],
    ['StateLookupRobustAddress', ['t01', head], 20],
    ['StateListMessages', [{ From: 't0100' }, head, 0], 50],
    ['StateSectorPartition', ['t01000', 999_999, head], 40],
    ['StateSectorExpiration', ['t01000', 999_999, head], 40],
    ['GasEstimateGasPremium', [128, 't0100', 0, head], 100],
    ['ChainGetPath', [startOf(), headOf()], 100],
    ['ChainGetTipSetByHeight', [1, head], 3],
    ['ChainGetTipSetAfterHeight', [1, head], 3],
    ['StateChangedActors', genesisOf(), 10],
    ['StateGetRandomnessFromTickets', [1, 1, 'AA==', headOf()], 3],
    ['StateGetRandomnessFromBeacon', [1, 1, 'AA==', head], 3],
    ['StateGetRandomnessDigestFromTickets', [1, head], 3],
    ['StateGetRandomnessDigestFromBeacon', [1, head], 3],
    ['StateGetBeaconEntry', [1], 3],
    ['ChainGetTransfersSince', [head, 1_000, 10], 3],
    ['NodeStatus', [true], 60],
    // The search for each tipset alone takes 672.
    ['ChainListMessages', ['t0100', 0, -1, '', 0], 800],
    ['ChainListLogs', ['t0100', 0, -1, '', 0], 800],
    ['ChainListTransfers', ['t0100', 0, -1, '', 0], 750],
    ['ChainValidateIndex', [1, false], 3],
  ])('of %s gives way, answers as at once, and ends with its caller', async (name, params, least) => {
    const { plain, ask } = open()
    const expected = await ask(plain, name, params)
    const { time, patient } = open()
    expect(await ask(patient, name, params)).toEqual(expected)
    expect(time.turns).toBeGreaterThanOrEqual(least)

    const again = open()
    const caller = new AbortController()
    const { setTimeout } = again.time
    again.time.setTimeout = (run, ms) => {
      if (again.time.turns === 0) caller.abort()
      return setTimeout.call(again.time, run, ms)
    }
    const given = await again.ask(again.patient, name, params, caller)
    expect(JSON.stringify(given)).toContain('the caller has gone')
    const { turns } = again.time
    await new Promise((resolve) => globalThis.setTimeout(resolve, 20))
    expect(again.time.turns).toBeLessThanOrEqual(turns + 1)
  })

  test.each<[string, Json[]]>([
    ['StateListActors', [head]],
    ['StateListMiners', [head]],
    ['StateMinerSectors', ['t01000', null, head]],
    ['StateMinerActiveSectors', ['t01000', head]],
    ['StateMarketDeals', [head]],
    ['StateMarketParticipants', [head]],
    ['StateGetAllClaims', [head]],
    ['StateGetClaims', ['t01000', head]],
    ['StateGetAllAllocations', [head]],
    ['StateGetAllocations', ['t01000', head]],
  ])('of %s can be sent item by item, and is the same answer', async (name, params) => {
    const { table, plain, sending, ask } = open()
    const row = table.find('v1', `Filecoin.${name}`)?.row
    expect(row?.kind === 'call' && typeof row.list).toBe('function')
    const outcome = await sending.dispatchStreaming(
      { id: 1, method: `Filecoin.${name}`, params },
      asker(new AbortController()),
    )
    let sent = (outcome as StreamedOutcome).text
    if (outcome.kind === 'streamed') for await (const part of outcome.rest) sent += part
    const whole = (await ask(plain, name, params)) as { text: string }
    expect(JSON.parse(sent)).toEqual(JSON.parse(whole.text))
  })

  test('of very many miners is sent as they are found', async () => {
    const { view, sending } = open()
    const { blocks } = view.store
    const tree = view.stateBefore(view.store.head())
    const power = tree.getActor(POWER_ID) as ActorState
    const state = getCbor(blocks, powerState, power.head)
    const claims = Hamt.load(blocks, state.claims, powerClaim)
    const [[, claim] = []] = claims.entries()
    for (let id = 2000n; id < 20_000n; id++) claims.set(idAddress(id).bytes, claim as PowerClaim)
    tree.setActor(POWER_ID, { ...power, head: putCbor(blocks, powerState, { ...state, claims: claims.flush() }) })
    view.stateBefore = () => tree
    const outcome = (await sending.dispatchStreaming(
      { id: 1, method: 'Filecoin.StateListMiners', params: [head] },
      asker(new AbortController()),
    )) as StreamedOutcome
    expect(outcome.kind).toBe('streamed')
    let whole = outcome.text
    for await (const part of outcome.rest) whole += part
    const { result } = JSON.parse(whole) as { result: string[] }
    const expected = [...claims.entries()].map(([key]) => addressFromBytes(key).toString('t'))
    expect(result).toEqual(expected)
  })

  test('of the index of hashes may be given up at any step, and finds what it would have found', () => {
    const { view } = open()
    const { store } = view
    const top = store.head()
    const all = [...Array(top.height).keys()].map((height) => store.tipsetByHeight(height, top, 'next'))
    const hidden = new Uint8Array(32).fill(7)
    for (const steps of [0, 1, 5, 40]) {
      store.setHead(store.tipsetByHeight(60, top, 'previous'))
      const index = new EthIndex(view)
      const given = index.tipset(hidden)
      for (let i = 0; i < steps; i++) given.next()
      store.setHead(top)
      const above = index.tipset(hidden)
      for (let i = 0; i < steps; i++) above.next()
      for (const tipset of all) {
        expect(tipsetKeyText(finish(index.tipset(ethBlockHash(tipset)))?.key ?? [])).toBe(tipsetKeyText(tipset.key))
      }
      expect(finish(index.tipset(hidden))).toBeUndefined()
    }
  })
})

test.each([
  ['', list(text)],
  [' that may be absent', nullable(list(text))],
])('a long list%s is printed part by part, and is the same text', async (_, result) => {
  const words = Array.from({ length: 1000 }, (_, i) => (i % 7 === 0 ? `"${i}` : `word ${i}`))
  const row = method({
    ...{ name: 'Words', perm: 'read', cost: 'scan' },
    params: [param('any', json)],
    result,
    handler: () => words,
  })
  const time = new SlowTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const engine = new RpcEngine({
    ...{ table: createMethodTable([row]), json: { addressPrefix: 't' }, log: silentLog, queues },
  })
  const { signal } = new AbortController()
  const caller = { version: 'v1', permissions: new Set(['read']), signal, ended: signal, notify: undefined } as const
  const outcome = await engine.dispatch(
    { id: 1, method: 'Filecoin.Words', params: [0] },
    { ...caller, name: { name: 'me', hasToken: false } },
    undefined,
  )
  expect(outcome).toEqual({ kind: 'answered', text: `{"id":1,"jsonrpc":"2.0","result":${JSON.stringify(words)}}` })
  expect(time.turns).toBeGreaterThanOrEqual(10)
})
