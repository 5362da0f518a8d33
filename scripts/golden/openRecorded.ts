/** Opens a recorded chain as a read-only node with a server on loopback. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { startServer } from '../../platform/server/httpServer.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { nativeZstd } from '../../platform/server/zstd.ts'
import { type ArchiveStore, CarStore } from '../../src/archive/carStore.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { type Blockstore, getCbor, LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { actorsVersionFor, type Network, networkVersionAt } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { type PetrelNode, startNode } from '../../src/node/node.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { pooledTransactions, putPooledMessages } from './pooledMessages.ts'

const ACTORS = join(process.env.PETREL_HOME ?? join(homedir(), '.petrel'), 'actors')

const ALIVE_MS = 60_000

const log: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (message, info) => console.error(message, info),
}

/** A recorded chain that answers. */
export interface RecordedNode {
  readonly url: string
  readonly token: string
  readonly node: PetrelNode
  close(): Promise<void>
}

/**
 * The actors' bundles that a chain has come to use, as far as they are on this machine: their code is part of its
 * blocks. Later ones are none of the chain's.
 */
function bundles(network: Network, archive: ArchiveStore): Blockstore[] {
  if (!existsSync(ACTORS)) return []
  const here = new Set(readdirSync(ACTORS))
  const { height } = getCbor(archive, blockHeader, archive.roots[0] as Cid)
  const latest = actorsVersionFor(networkVersionAt(network, height))
  return network.manifests
    .filter(({ actorsVersion }) => actorsVersion <= latest)
    .map(({ manifestCid }) => `${manifestCid}.car`)
    .filter((name) => here.has(name))
    .map((name) => new CarStore(memorySource(new Uint8Array(readFileSync(join(ACTORS, name)))), { verify: 'never' }))
}

/**
 * Opens a folder with `network.json` and `chain.car.zst` and serves it.
 * @param folder - one of shared/data/golden
 * @param height - the head is moved back to it before the node starts
 */
export async function openRecorded(folder: string, height?: number): Promise<RecordedNode> {
  await initCrypto()
  const network = parseNetwork(parseJson(readFileSync(join(folder, 'network.json'), 'utf8')))
  const nodes = new NodeCache()
  const archive = openArchive(memorySource(new Uint8Array(readFileSync(join(folder, 'chain.car.zst')))), {
    zstd: nativeZstd,
    verify: 'never',
    nodes,
  })
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive, ...bundles(network, archive)], nodes)
  putPooledMessages(folder, blocks)
  const meta = new MemoryStore()
  const store = openChain({ blocks, meta, log, roots: archive.roots })
  if (height !== undefined) store.setHead(store.tipsetByHeight(height, undefined, 'previous'))
  const view = new ChainView({ store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
  const codeLoaders = createCodeLoaders({ blocks })
  const vm = new CachingVmHost(store, new LocalVmHost({ view, proofs: acceptAllProofs, codeLoaders }))
  const node = await startNode(
    { network, store, view, vm, meta, keystore: new KeyStore(new MemorySecretStore()) },
    { version: 'golden', shutdown: () => {} },
    { clock: systemClock, timers: systemTimers, random: systemRandom, log },
  )
  const { handler, engine, mempool } = node
  // The core's timers keep no process alive, and nothing listens yet.
  const alive = setInterval(() => undefined, ALIVE_MS)
  for (const signed of pooledTransactions(folder)) await mempool.pool.push(signed)
  const server = await startServer({ handler, engine, log, host: '127.0.0.1', port: 0, closeGraceMs: 100 })
  clearInterval(alive)
  return {
    url: `http://127.0.0.1:${server.port}`,
    token: node.adminToken,
    node,
    close: async () => {
      await node.stop()
      await server.close()
    },
  }
}
