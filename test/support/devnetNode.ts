/** A local chain in memory, without pool and server: messages are what the test says. */
import { createNativeActors } from '../../src/actors/nativeActors.ts'
import { DEVNET_POLICY } from '../../src/actors/policy.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Clock, KeyValueStore, Logger, Timers } from '../../src/base/ports.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { Devnet } from '../../src/devnet/devnet.ts'
import { openDevnetChain } from '../../src/devnet/openDevnetChain.ts'
import { type DevnetOptions, devnetOptions } from '../../src/devnet/options.ts'
import { createDevnetPlan, type DevnetPlan, type FundedAccount } from '../../src/devnet/plan.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import type { CodeLoader } from '../../src/fvm/kernel/kernel.ts'
import { acceptAllProofs, type ProofVerifier } from '../../src/fvm/proofVerifier.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { manifestFor } from '../../src/networks/network.ts'
import type { Address } from '../../src/types/address.ts'
import { type Message, messageCid } from '../../src/types/message.ts'
import type { Receipt } from '../../src/types/receipt.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { keyOf, signWith } from '../../src/wallet/key.ts'

export const GENESIS_TIMESTAMP = 1_700_000_000

const LATE: Clock = { nowMs: () => 10_000_000_000_000, monotonicMs: () => 0 }

export interface LogLine {
  readonly level: string
  readonly message: string
}

export interface DevnetNode {
  readonly plan: DevnetPlan
  readonly store: ChainStore
  readonly view: ChainView
  readonly vm: VmHost
  readonly devnet: Devnet
  readonly log: LogLine[]
  /** What the next blocks may take. */
  readonly pending: SignedMessage[]
}

export interface DevnetNodeOptions extends Partial<DevnetOptions> {
  /** Blocks of actors bundles; absent: native actors only. */
  readonly bundles?: Blockstore
  readonly timers?: Timers
  /** Default: so late that no block has to wait for its timestamp. */
  readonly clock?: Clock
  readonly meta?: KeyValueStore
  readonly blocks?: Blockstore
  /** Default: all hold. */
  readonly proofs?: ProofVerifier
  /** Changes the native actors. */
  readonly actors?: (own: CodeLoader) => CodeLoader
}

export function devnetNode(given: DevnetNodeOptions = {}): DevnetNode {
  const { bundles, timers, clock = LATE, meta = new MemoryStore(), blocks = new MemoryBlockstore(), ...rest } = given
  const { proofs = acceptAllProofs, actors = (own) => own, ...options } = rest
  const plan = createDevnetPlan(
    devnetOptions({ genesisTimestamp: GENESIS_TIMESTAMP, ...options }),
    builtinNetwork('devnet'),
  )
  const log: LogLine[] = []
  const line =
    (level: string) =>
    (message: string): void => {
      log.push({ level, message })
    }
  const logger: Logger = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
  const store = new ChainStore({ blocks, meta, log: logger })
  openDevnetChain(store, plan, GENESIS_TIMESTAMP)
  const view = new ChainView({ store, network: plan.network, beaconRound: mockBeacon.roundAt })
  const native = actors(createNativeActors(manifestFor(plan.network, 18)!.actors, { policy: DEVNET_POLICY }))
  const code = bundles === undefined ? blocks : new LayeredBlockstore([blocks, bundles])
  const codeLoaders = createCodeLoaders({ blocks: code, native })
  const vm = new CachingVmHost(store, new LocalVmHost({ view, proofs, codeLoaders }))
  const pending: SignedMessage[] = []
  const devnet = new Devnet(
    plan.producers,
    {
      view,
      vm,
      selectMessages: async () => pending.slice(),
      flush: () => meta.flush(),
      timers: timers ?? { setTimeout: () => () => undefined },
      clock,
      log: logger,
    },
    plan.options,
  )
  return { plan, store, view, vm, devnet, log, pending }
}

/** Fields of a message that matter to a test. */
export type Draft = Pick<Message, 'to' | 'value'> & Partial<Message>

export function signedBy(account: FundedAccount, draft: Draft): SignedMessage {
  const message: Message = {
    version: 0,
    from: account.address,
    nonce: 0n,
    gasLimit: 30_000_000n,
    gasFeeCap: 1_000_000_000n,
    gasPremium: 1_000n,
    method: 0n,
    params: new Uint8Array(0),
    ...draft,
  }
  const key = keyOf({ type: account.kind, privateKey: account.secretKey })
  return { message, signature: signWith(key, messageCid(message).bytes) }
}

/** Receipts of a tipset's messages, by executing it. */
export async function receiptsOf(node: DevnetNode, tipset: Tipset): Promise<Receipt[]> {
  const { trace } = await node.vm.compute(tipset, tipset.height, [])
  return trace.filter((one) => one.gasCost.message !== null).map((one) => one.msgRct)
}

/** Balance after the head. */
export async function balanceOf(node: DevnetNode, address: Address): Promise<bigint> {
  const { stateRoot } = await node.vm.tipsetState(node.store.head())
  const tree = node.view.stateTree(stateRoot)
  const id = tree.lookupId(address)
  return id === undefined ? 0n : (tree.getActor(id)?.balance ?? 0n)
}
