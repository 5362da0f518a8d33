/**
 * Makes a chain on a generated state with the producers of local chains: where every miner takes part in the elections, a
 * tipset has five blocks on average; the machine is the network's own Wasm. New blocks go to a store beside the state,
 * which can be gone on with.
 */
import { join } from 'node:path'
import { openArchiveFile } from '../../../platform/server/archiveFile.ts'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import type { Logger } from '../../../src/base/ports.ts'
import { ChainView } from '../../../src/chain/chainView.ts'
import { openChain } from '../../../src/chain/openChain.ts'
import type { VmHost } from '../../../src/chain/vm.ts'
import { mockBeacon } from '../../../src/consensus/beacon.ts'
import type { Producer } from '../../../src/devnet/blocks.ts'
import { Devnet } from '../../../src/devnet/devnet.ts'
import { CachingVmHost } from '../../../src/execution/cachingVmHost.ts'
import { createCodeLoaders } from '../../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../../src/execution/localVmHost.ts'
import { acceptAllProofs } from '../../../src/fvm/proofVerifier.ts'
import { type Blockstore, LayeredBlockstore } from '../../../src/ipld/blockstore.ts'
import type { CollectableBlocks } from '../../../src/ipld/collectable.ts'
import { NodeCache } from '../../../src/ipld/nodeCache.ts'
import type { Network } from '../../../src/networks/network.ts'
import { idAddress } from '../../../src/types/address.ts'
import { BLOCK_GAS_LIMIT } from '../../../src/types/protocol.ts'
import type { SignedMessage } from '../../../src/types/signedMessage.ts'
import type { Tipset } from '../../../src/types/tipset.ts'
import { KeyedAddresses, workerKey } from './accounts.ts'
import { SNAPSHOT_FILES } from './files.ts'
import { MessageMaker } from './messages.ts'
import { minerId } from './sectors.ts'
import type { StateSize } from './size.ts'
import { WindowPosts } from './windowPosts.ts'

const STORE = 'chain'
/** Blocks of a tipset, on average. */
const BLOCKS = 5
/** Proofs in a block at most: they leave two fifths of its gas to the others. */
const POSTS_IN_BLOCK = 30
/** Decoded nodes that are kept, bytes. */
const NODES = 128 << 20

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message, info) => console.warn(message, info),
  error: (message, info) => console.error(message, info),
}

/** How a chain is made. */
export interface ChainOptions {
  readonly size: StateSize
  /** Height at which to end. */
  readonly epochs: number
  /** Messages of a tipset beside the proofs of storage. */
  readonly messages: number
  /** How many miners take part in the elections, the largest first. Default: all. */
  readonly producers?: number | undefined
  readonly say: (text: string) => void
}

/** A chain that can be read, and gone on with. */
export interface GeneratedChain {
  readonly view: ChainView
  readonly vm: VmHost
  /** Blocks that the state does not have. */
  readonly own: CollectableBlocks
  /** All blocks. */
  readonly blocks: Blockstore
  /** Until what was executed is on disk: else the next change of the head writes it. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Opens the chain of a folder: at its genesis, or where an earlier run ended. */
export async function openGenerated(folder: string, network: Network): Promise<GeneratedChain> {
  const nodes = new NodeCache(NODES)
  const archive = await openArchiveFile(join(folder, SNAPSHOT_FILES.forest), { home: folder, nodes })
  await archive.ready
  const environment = new LmdbEnvironment({ path: join(folder, STORE), nodes })
  const blocks = new LayeredBlockstore([environment.blocks, archive.store], nodes)
  const store = openChain({ blocks, meta: environment.meta, log: quiet, roots: archive.store.roots })
  const view = new ChainView({ store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
  const machine = new LocalVmHost({ view, proofs: acceptAllProofs, codeLoaders: createCodeLoaders({ blocks }) })
  const vm = new CachingVmHost(store, machine)
  return {
    view,
    vm,
    own: environment.blocks,
    blocks,
    flush: () => environment.flush(),
    close: async () => {
      await environment.meta.flush()
      await environment.close()
      await archive.close()
    },
  }
}

/** Chooses the messages of each winner's block: what one base has had is not given again. */
class Selection {
  readonly #chain: GeneratedChain
  readonly #options: ChainOptions
  readonly #keyed: KeyedAddresses
  #posts: WindowPosts | undefined
  #base: Tipset | undefined
  #maker: MessageMaker | undefined

  constructor(chain: GeneratedChain, options: ChainOptions) {
    this.#chain = chain
    this.#options = options
    this.#keyed = new KeyedAddresses(options.size)
  }

  async select(base: Tipset): Promise<readonly SignedMessage[]> {
    const { view, vm } = this.#chain
    const { size, messages } = this.#options
    if (this.#base !== base || this.#maker === undefined) {
      const tree = view.stateTree((await vm.tipsetState(base)).stateRoot)
      this.#posts ??= new WindowPosts(size, tree, base.height)
      this.#maker = new MessageMaker(size, BigInt(view.network.chainId), this.#keyed, { tree, height: base.height })
      this.#base = base
    }
    const digest = view.randomness(base).ticketDigest(base.height)
    const posts = this.#posts?.make(this.#maker, base.height, digest, POSTS_IN_BLOCK) ?? []
    return withinBlock([...posts, ...this.#maker.make(Math.ceil(messages / BLOCKS))])
  }
}

/** The first of them that a block has gas for. */
function withinBlock(messages: readonly SignedMessage[]): readonly SignedMessage[] {
  let left = BLOCK_GAS_LIMIT
  return messages.filter(({ message: { gasLimit } }) => {
    if (gasLimit > left) return false
    left -= gasLimit
    return true
  })
}

/** Makes tipsets up to a height. @returns the head */
export async function extendChain(chain: GeneratedChain, options: ChainOptions): Promise<Tipset> {
  const { size, epochs, say } = options
  const { view, vm } = chain
  const length = Math.min(options.producers ?? size.counts.miner, size.counts.miner)
  const producers: Producer[] = Array.from({ length }, (_, miner) => ({
    miner: idAddress(BigInt(minerId(miner))),
    workerKey: workerKey(size, miner).secretKey,
  }))
  const selection = new Selection(chain, options)
  const devnet = new Devnet(
    producers,
    {
      view,
      vm,
      selectMessages: (base) => selection.select(base),
      flush: () => Promise.resolve(),
      timers: systemTimers,
      clock: systemClock,
      log: quiet,
    },
    { blockTimeMs: 0, instant: false },
  )
  let since = performance.now()
  while (view.store.head().height < epochs) {
    const head = await devnet.mine(1)
    if (performance.now() - since < 5000) continue
    since = performance.now()
    say(`epoch ${head.height} of ${epochs}, ${head.blocks.length} blocks`)
  }
  return view.store.head()
}
