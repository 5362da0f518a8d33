/** A recorded chain whose machine runs in real threads. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { startServer } from '../../platform/server/httpServer.ts'
import { LmdbEnvironment } from '../../platform/server/lmdbStore.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { startVmThread } from '../../platform/server/vmThreads.ts'
import { fromHex } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Timers } from '../../src/base/ports.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import type { ExecutionTrace } from '../../src/fvm/trace.ts'
import { LayeredBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { startNode } from '../../src/node/node.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { idAddress } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { type GoldenChain, openGoldenChain } from '../fvm/support/goldenChain.ts'
import { ACTORS } from '../support/actors.ts'

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** f05000 sends itself method 7 with all its gas, ignores what becomes of it and returns nothing. */
const CALLS_ITSELF =
  '0061736d0100000001130260097f7f7f7e7f7e7e7e7e017f60017f017f020d010473656e640473656e640000030201010503010001071302066d656d6f7279020006696e766f6b6500010a1b0119004110410041034207410042004200427f420010001a41000b0b09010041000b03008827000e046e616d65010701000473656e64'
/** Loops for as long as there is gas. */
const LOOPS =
  '0061736d01000000010601' +
  '60017f017f03020100050301000107130206' +
  '6d656d6f727902000669' +
  '6e766f6b6500000a0b010900' +
  '03400c000b41000b'
/** Asks what gas is left for as long as there is gas. */
const ASKS =
  '0061736d01000000010601' +
  '60017f017f' +
  '0211010367617309617661696c61626c650000' +
  '030201000503010001071302' +
  '066d656d6f72790200' +
  '06696e766f6b650001' +
  '0a10010e0003404100' +
  '10001a0c000b41000b'

export const RECURSING_ACTOR = 5000n
export const LOOPING_ACTOR = 5001n
export const ASKING_ACTOR = 5002n

export interface RecordedMachine {
  readonly golden: GoldenChain
  readonly view: ChainView
  readonly host: WorkerVmHost
  /** A tipset on top of the chain in whose parent state the two actors are. */
  readonly withActors: Tipset
  /** How many so far. */
  threadsStarted(): number
  close(): Promise<void>
}

/** @param storage - `lmdb`: the threads read the chain's blocks by themselves; `memory`: they are sent them */
export function openRecordedMachine(
  chain: string,
  storage: 'memory' | 'lmdb',
  threads = 1,
  timers: Timers = systemTimers,
): RecordedMachine {
  const golden = openGoldenChain(chain)
  const folder = storage === 'lmdb' ? mkdtempSync(join(tmpdir(), 'petrel-vm-')) : undefined
  const environment = folder === undefined ? undefined : new LmdbEnvironment({ path: folder })
  const blocks = environment === undefined ? golden.store : new LayeredBlockstore([environment.blocks, golden.store])
  const store = new ChainStore({ blocks, meta: environment?.meta ?? new MemoryStore(), log: LOG })
  store.setGenesis(firstBlock(golden.chain.genesis()))
  store.setHead(golden.chain.head())
  const view = new ChainView({ store, network: golden.network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
  const options = { mode: 'wasm', chain: folder, actors: ACTORS } as const
  let threadsStarted = 0
  const host = new WorkerVmHost({
    view,
    threads,
    timers,
    log: LOG,
    startThread: () => {
      threadsStarted++
      return startVmThread(options)
    },
  })
  return {
    golden,
    view,
    host,
    withActors: putActors(store),
    threadsStarted: () => threadsStarted,
    close: async () => {
      host.close()
      await environment?.close()
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

function putActors(store: ChainStore): Tipset {
  const head = store.head()
  const block = firstBlock(head)
  const tree = StateTree.load(store.blocks, block.parentStateRoot)
  const none = putBlock(store.blocks, Uint8Array.of(0x80))
  for (const [id, wasm] of [
    [RECURSING_ACTOR, CALLS_ITSELF],
    [LOOPING_ACTOR, LOOPS],
    [ASKING_ACTOR, ASKS],
  ] as const) {
    const code: Cid = putBlock(store.blocks, fromHex(wasm), CODEC_RAW)
    tree.setActor(id, { code, head: none, nonce: 0n, balance: 0n, delegatedAddress: null })
  }
  const parentStateRoot = tree.flush()
  const child = { ...block, parents: [...head.key], height: head.height + 1, parentStateRoot }
  store.putHeader(child)
  return createTipset([child])
}

/** Serves the chain on loopback, the machine's results remembered. */
export async function serveMachine({ view, host }: RecordedMachine): Promise<{
  readonly url: string
  close(): Promise<void>
}> {
  const { store, network } = view
  const keystore = new KeyStore(new MemorySecretStore())
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom, log: LOG }
  const vm = new CachingVmHost(store, host)
  const parts = { network, store, view, vm, meta: new MemoryStore(), keystore }
  const node = await startNode(parts, { version: 'test', shutdown: () => {} }, ports)
  const { handler, engine } = node
  const server = await startServer({ handler, engine, log: LOG, host: '127.0.0.1', port: 0, closeGraceMs: 100 })
  return {
    url: `http://127.0.0.1:${server.port}/rpc/v1`,
    close: async () => {
      await node.stop()
      await server.close()
    },
  }
}

/** A message from the system actor. */
export function callOf(actor: bigint): Message {
  return {
    version: 0,
    to: idAddress(actor),
    from: idAddress(0n),
    nonce: 0n,
    value: 0n,
    gasLimit: 0n,
    gasFeeCap: 0n,
    gasPremium: 0n,
    method: 7n,
    params: new Uint8Array(0),
  }
}

/** Calls of a trace that are within each other, those that were refused not counted. */
export function nestedCalls(trace: ExecutionTrace): number {
  if (trace.invokedActor === null) return 0
  let deepest = 0
  for (const one of trace.subcalls) deepest = Math.max(deepest, nestedCalls(one))
  return deepest + 1
}
