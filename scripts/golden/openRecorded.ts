/** Opens a recorded chain as a read-only node with a server on loopback. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../../platform/node/httpServer.ts'
import { nativeZstd } from '../../platform/node/zstd.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import { accountKey, actorOf, tryActorOf } from '../../src/chain/actorLookup.ts'
import { ActorStates } from '../../src/chain/actorStates.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { LocalVmHost } from '../../src/chain/localVmHost.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { CarStore } from '../../src/ipld/carStore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { openArchive } from '../../src/ipld/openArchive.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { chainMethods } from '../../src/rpc/methods/chain.ts'
import { executionMethods } from '../../src/rpc/methods/execution.ts'
import { stateMethods } from '../../src/rpc/methods/state.ts'
import { PERMISSIONS } from '../../src/rpc/permission.ts'
import { createMethodTable } from '../../src/rpc/table.ts'

const TOKEN = 'recorded'
const ACTORS = join(process.env['PETREL_HOME'] ?? join(homedir(), '.petrel'), 'actors')

const log: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (message, info) => console.error(message, info),
}

/** The actors' bundles of a network that are on this machine: their code is part of the recorded chains' blocks. */
function bundles(manifests: readonly string[]): Blockstore[] {
  if (!existsSync(ACTORS)) return []
  const here = new Set(readdirSync(ACTORS))
  return manifests
    .map((manifest) => `${manifest}.car`)
    .filter((name) => here.has(name))
    .map((name) => new CarStore(memorySource(new Uint8Array(readFileSync(join(ACTORS, name)))), { verify: 'never' }))
}

/** A node over a folder with `network.json` and `chain.car.zst`. */
export async function openRecorded(
  folder: string,
): Promise<{ url: string; token: string; view: ChainView; vm: LocalVmHost; close: () => Promise<void> }> {
  const network = parseNetwork(parseJson(readFileSync(join(folder, 'network.json'), 'utf8')))
  const nodes = new NodeCache()
  const archive = openArchive(memorySource(new Uint8Array(readFileSync(join(folder, 'chain.car.zst')))), {
    zstd: nativeZstd,
    verify: 'never',
    nodes,
  })
  const code = bundles(network.manifests.map((one) => String(one.manifestCid)))
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive, ...code], nodes)
  const store = openChain({ blocks, meta: new MemoryStore(), log, roots: archive.roots })
  const view = new ChainView({ store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
  const vm = new LocalVmHost({ view, proofs: acceptAllProofs, loadCode: () => undefined })
  const states = new ActorStates(blocks, view.codes)
  void accountKey
  void actorOf
  void tryActorOf
  const rows = [
    ...chainMethods({ view }),
    ...stateMethods({ view, vm, states }),
    ...executionMethods({ view, vm, findMessage: () => undefined }),
  ]
  const engine = new RpcEngine({
    table: createMethodTable(rows),
    json: { addressPrefix: network.addressPrefix },
    log,
  })
  const handler = new HttpHandler(engine, {
    verifier: { verify: (token) => (token === TOKEN ? new Set<string>(PERMISSIONS) : undefined) },
  })
  const server = await startServer({ handler, engine, log, host: '127.0.0.1', port: 0, closeGraceMs: 100 })
  return { url: `http://127.0.0.1:${server.port}`, token: TOKEN, view, vm, close: () => server.close() }
}
