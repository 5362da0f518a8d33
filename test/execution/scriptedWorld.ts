/** A machine in threads, scripted by a test, behind a chain of two tipsets. */
import { utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import type { TipsetState, VmHost } from '../../src/chain/vm.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import type { VmServerDeps } from '../../src/execution/vmServer.ts'
import { WorkerVmHost, type WorkerVmHostDeps } from '../../src/execution/workerVmHost.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { idAddress, UNDEF_ADDRESS } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { type FakeThread, HandTimers, machineOf, startFakeThread } from './threadPair.ts'

/** Says nothing. */
export const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** What a scripted machine gives for a tipset. */
export const STATE: TipsetState = {
  stateRoot: blockCid(utf8('state'), CODEC_RAW),
  receiptsRoot: blockCid(utf8('receipts'), CODEC_RAW),
}

/** A message to an actor, with the numbers that are hardest to carry over. */
export function message(to: number): Message {
  return {
    version: 0,
    to: idAddress(to),
    from: UNDEF_ADDRESS,
    nonce: 2n ** 64n - 1n,
    value: -5n,
    gasLimit: 0n,
    gasFeeCap: 0n,
    gasPremium: 0n,
    method: 7n,
    params: Uint8Array.of(1, 2, 3),
  }
}

/** How a world's machine is opened. */
export interface WorldOptions extends Partial<Pick<WorkerVmHostDeps, 'threads' | 'maxWaiting' | 'timers' | 'commit'>> {
  /** What its threads can read by themselves. Default: nothing. */
  readonly reads?: Partial<Pick<VmServerDeps, 'blocks' | 'maxBlockBytes'>>
}

/** A chain, the threads that were started for it, and the machine of all of them. */
export class ScriptedWorld {
  readonly store: ChainStore
  readonly view: ChainView
  readonly tipset: Tipset
  readonly threads: FakeThread[] = []
  readonly timers = new HandTimers()
  /** What each thread runs. */
  machine: (store: ChainStore) => Partial<VmHost> = () => ({})

  constructor() {
    const network = builtinNetwork('devnet')
    this.store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: LOG })
    const genesis = header(undefined, 0, 0)
    this.store.setGenesis(genesis)
    const next = header(createTipset([genesis]), 1, 0)
    this.store.putHeader(next)
    this.tipset = createTipset([next])
    this.view = new ChainView({ store: this.store, network, beaconRound: () => 0 })
  }

  /** The host under test; one thread at most unless told otherwise. */
  open({ reads = {}, ...options }: WorldOptions = {}): WorkerVmHost {
    return new WorkerVmHost({
      view: this.view,
      threads: 1,
      timers: this.timers,
      log: LOG,
      ...options,
      startThread: () => {
        const createHost = (own: ChainStore): VmHost => machineOf(this.machine(own))
        const thread = startFakeThread({ blocks: undefined, log: LOG, createHost, ...reads })
        this.threads.push(thread)
        return thread
      },
    })
  }
}

/** What a promise fails with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'nothing',
    (error: unknown) => error,
  )
}
