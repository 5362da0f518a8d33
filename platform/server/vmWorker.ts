/** The thread of the machine: what {@link startVmThread} starts. */

import { dirname, join } from 'node:path'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { refuseWrite } from '../../src/archive/carStore.ts'
import type { PartSender, ThreadPort } from '../../src/base/ports.ts'
import type { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { serveVm } from '../../src/execution/vmServer.ts'
import { ModuleCache } from '../../src/fvm/wasm/moduleCache.ts'
import { type Blockstore, LayeredBlockstore } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import type { Network } from '../../src/networks/network.ts'
import { actorsCode } from '../../src/node/actorsCode.ts'
import { keysOf, loadCurve, proofsOf } from '../../src/node/proofs.ts'
import type { ProofKeys } from '../../src/proofs/keys/keyName.ts'
import { resultPrinter } from '../../src/rpc/types/execution.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { ActorBundles } from './actorBundles.ts'
import { openArchiveReader } from './archiveFile.ts'
import { watchBuffers } from './bufferWatch.ts'
import { cacheSizes } from './cacheSize.ts'
import { InstrumentedFiles } from './instrumentedFiles.ts'
import { LmdbEnvironment } from './lmdbStore.ts'
import { createLogger } from './logger.ts'
import { ProofFiles } from './proofFiles.ts'
import { startCrypto } from './startCrypto.ts'
import {
  type AskMessage,
  type PartMessage,
  SHARED,
  type VmThreadData,
  type VmThreadOptions,
  type WordMessage,
} from './vmThreads.ts'

/** Prometheus asks every 15 seconds or so. */
const HEAP_TOLD_MS = 5000

/** Read only: what the thread writes goes to the node. */
function bundleBlocks(bundles: ActorBundles): Blockstore {
  return {
    get: (cid) => bundles.block(cid),
    has: (cid) => bundles.block(cid) !== undefined,
    put: refuseWrite,
  }
}

/** Where the node keeps an index that it cannot keep beside the archive: `snapshots` beside `chain`. */
function indexFolder(chain: string): string {
  return join(dirname(chain), 'snapshots')
}

/** The node's store, as a thread reads it. */
function readStore({ chain }: VmThreadOptions, nodes: NodeCache): LmdbEnvironment | undefined {
  return chain === undefined ? undefined : new LmdbEnvironment({ path: chain, nodes, readsOnly: true })
}

/** The chain on disk, the archive below it, the actors' code and manifests. */
function readable(
  { chain, archive, actors, bundles }: VmThreadOptions,
  store: LmdbEnvironment | undefined,
  nodes: NodeCache,
): Blockstore | undefined {
  const layers: Blockstore[] = []
  if (store !== undefined) layers.push(store.blocks)
  // The node indexes it, and verifies it.
  if (archive !== undefined) layers.push(openArchiveReader(archive, { home: indexFolder(chain ?? archive), nodes }))
  if (actors !== undefined) layers.push(bundleBlocks(new ActorBundles(actors, bundles)))
  const [first, ...others] = layers
  return first === undefined ? undefined : new LayeredBlockstore([first, ...others], nodes)
}

/** Messages from now on: Deno drops those that nobody listens to, and the cryptography takes a while to start. */
function heldMessages(port: MessagePort, { shared, words }: VmThreadData, parts: PartSender | undefined): ThreadPort {
  const held: Uint8Array[] = []
  let received = 0
  let take = (message: Uint8Array): void => void held.push(message)
  port.on('message', (message: Uint8Array) => {
    received++
    take(message)
  })
  return {
    // Up to the number of the last message that nobody waits for: a later one is another question.
    isGivenUp: () => received <= Atomics.load(shared, SHARED.givenUp),
    post: (message) => port.postMessage(message, [message.buffer as ArrayBuffer]),
    ...(parts === undefined ? {} : { parts }),
    ask: (question) => {
      const before = Atomics.load(shared, SHARED.told)
      port.postMessage({ ask: question } satisfies AskMessage, [question.buffer as ArrayBuffer])
      Atomics.wait(shared, SHARED.told, before)
      return (receiveMessageOnPort(words)?.message as WordMessage | undefined)?.word
    },
    onMessage: (listener) => {
      Atomics.store(shared, SHARED.listens, 1)
      take = listener
      for (const message of held.splice(0)) listener(message)
    },
  }
}

/** @param readNewest - from then on the thread reads what has been written since it began with what it does */
function partSender(port: MessagePort, shared: Int32Array, readNewest: () => void): PartSender {
  const taken = (): number => Atomics.load(shared, SHARED.taken)
  return {
    post: (part) => port.postMessage({ part } satisfies PartMessage, [part.buffer as ArrayBuffer]),
    taken,
    awaitMore: (before) => {
      Atomics.wait(shared, SHARED.taken, before)
      readNewest()
    },
  }
}

/** Writes down, now and then, what this thread's heap uses, and what its decoded nodes do. */
function tellHeap(shared: Int32Array, nodes: NodeCache): void {
  const tell = (): void => {
    const { heapUsed, external } = process.memoryUsage()
    Atomics.store(shared, SHARED.heapKib, Math.round((heapUsed + external) / 1024))
    Atomics.store(shared, SHARED.cacheKib, Math.round(nodes.bytes / 1024))
  }
  tell()
  setInterval(tell, HEAP_TOLD_MS).unref()
}

function createHost(
  options: VmThreadOptions,
  keys: ProofKeys | undefined,
): (store: ChainStore, network: Network, checkpoint: () => void) => LocalVmHost {
  const disk = options.actors === undefined ? undefined : new InstrumentedFiles(join(options.actors, 'instrumented'))
  const modules = new ModuleCache(disk)
  return (store, network, checkpoint) => {
    const genesis = firstBlock(store.genesis()).timestamp
    const view = new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, genesis, epoch) })
    const { mode } = options
    const codeLoaders = actorsCode({ network, blocks: store.blocks, bundles: undefined, mode, modules })
    return new LocalVmHost({
      view,
      proofs: proofsOf(network, keys),
      codeLoaders,
      checkpoint,
      print: resultPrinter(network),
    })
  }
}

if (parentPort !== null) {
  const data = workerData as VmThreadData
  const { options, shared, takesParts } = data
  let readNewest = (): void => undefined
  const parts = takesParts ? partSender(parentPort, shared, () => readNewest()) : undefined
  const port = heldMessages(parentPort, data, parts)
  await startCrypto()
  const sizes = options.cache ?? cacheSizes()
  const nodes = new NodeCache(sizes.threadNodes)
  tellHeap(shared, nodes)
  watchBuffers()
  const log = createLogger({ level: 'warn', format: process.env.PETREL_LOG_FORMAT === 'json' ? 'json' : 'text' })
  const keys = options.proofs === undefined ? undefined : keysOf(new ProofFiles(options.proofs), loadCurve(log))
  const store = readStore(options, nodes)
  if (store !== undefined) readNewest = () => store.readNewest()
  serveVm(port, {
    blocks: readable(options, store, nodes),
    // What it cannot read again would have to be sent again.
    ...(options.chain === undefined ? {} : { maxBlockBytes: sizes.threadBlocks }),
    log,
    createHost: createHost(options, keys),
  })
}
