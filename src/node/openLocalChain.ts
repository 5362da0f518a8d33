/** A node with a local chain of its own, which other nodes can join. */
import { ChainStore, keptGenesis } from '../chain/chainStore.ts'
import type { Cid } from '../codec/cid.ts'
import { DevnetError } from '../devnet/errors.ts'
import { votesFrom, withFirstTable } from '../devnet/f3Manifest.ts'
import { createDevnetGenesis, openDevnetChain } from '../devnet/openDevnetChain.ts'
import type { DevnetOptions } from '../devnet/options.ts'
import { createDevnetPlan, type DevnetPlan } from '../devnet/plan.ts'
import { chainFrom } from '../index/indexStore.ts'
import { MemoryBlockstore } from '../ipld/blockstore.ts'
import { builtinNetwork } from '../networks/builtinNetworks.ts'
import { actorsVersionFor, manifestFor, type Network, networkVersionAt } from '../networks/network.ts'
import { headerCid } from '../types/blockHeader.ts'
import { firstBlock } from '../types/tipset.ts'
import type { ActorsMode } from './actorsCode.ts'
import { startDevnetNode } from './devnetNode.ts'
import type { NodeShim } from './nodeShim.ts'
import { assembled, connect, localFetcher, type OpenNode, startOn, viewOf } from './openNode.ts'

const MS_PER_SEC = 1000

/** Which local chain. */
export interface LocalChain {
  readonly devnet: DevnetOptions
  /** `auto`: as before (all its states come from them), else Wasm where the bundle is here. */
  readonly actors: ActorsMode
  /** The network of an earlier start; undefined: this is the first, or nobody knows. */
  readonly kept?: Network | undefined
  /** Whether the actors' bundle of a manifest is at hand. */
  readonly hasBundle: (manifest: Cid) => boolean
}

/** A local chain that runs. */
export interface OpenLocalChain extends OpenNode {
  readonly plan: DevnetPlan
  /** With its genesis: what others join with. */
  readonly network: Network
}

/** @throws DevnetError `OTHER_CHAIN`, `OPTIONS_INVALID`; what the shim throws */
export function openLocalChain(chain: LocalChain, shim: NodeShim): Promise<OpenLocalChain> {
  return assembled(async (closers) => {
    const { stores, ports, settings } = shim
    const actorDebugging = chain.devnet.actorDebugging || chain.kept?.actorDebugging === true
    const finalityFrom = chain.devnet.finalityFrom ?? (chain.kept === undefined ? undefined : votesFrom(chain.kept))
    const plan = createDevnetPlan({ ...chain.devnet, actorDebugging, finalityFrom }, builtinNetwork('devnet'))
    const local = localFetcher(shim)
    const store = new ChainStore({ blocks: stores.blocks, meta: stores.meta, log: ports.log })
    const nowSec = Math.floor(ports.clock.nowMs() / MS_PER_SEC)
    if (shim.assertIndex !== undefined && keptGenesis(stores.meta) === undefined) {
      const header = createDevnetGenesis(new MemoryBlockstore(), plan, nowSec)
      await shim.assertIndex(chainFrom(plan.network, headerCid(header)))
    }
    await local.run(() => openDevnetChain(store, plan, nowSec))
    if (actorDebugging && chain.kept?.actorDebugging === false && store.head().height > 0) {
      const message = 'Cannot start devnet: the kept chain was made without debugging of actors; use another folder'
      throw new DevnetError('OTHER_CHAIN', message)
    }
    const genesis = firstBlock(store.genesis())
    const described = {
      ...plan.network,
      genesisCid: headerCid(genesis),
      genesisTimestamp: genesis.timestamp,
      actors: actorsOf(chain, plan.network),
    }
    const network = await local.run(() => withFirstTable(described, viewOf(store, described)))
    assertSameVotes(network, chain.kept, store)
    const net = await connect(shim, network, plan.options.networkName, closers)
    const parts = {
      ...(net === undefined ? {} : { net: { ...net, mode: 'execute' as const } }),
      ...(stores.source === undefined ? {} : { edge: local.run }),
    }
    const open = await startOn(shim, viewOf(store, network), parts, closers, (all) =>
      startDevnetNode(plan, all, settings, ports),
    )
    return { ...open, plan, network }
  })
}

/** Certificates that are kept begin where they began. @throws DevnetError `OTHER_CHAIN` */
function assertSameVotes(network: Network, kept: Network | undefined, store: ChainStore): void {
  const before = kept === undefined ? undefined : votesFrom(kept)
  if (before === undefined || before === votesFrom(network) || store.head().height < before) return
  const message = `Cannot start devnet: its producers vote on finality from epoch ${before} on; use that, or another folder`
  throw new DevnetError('OTHER_CHAIN', message)
}

function actorsOf({ actors, kept, hasBundle }: LocalChain, network: Network): Network['actors'] {
  if (actors !== 'auto') return actors
  if (kept !== undefined) return kept.actors
  const manifest = manifestFor(network, actorsVersionFor(networkVersionAt(network, 1)))
  return manifest !== undefined && hasBundle(manifest.manifestCid) ? 'wasm' : 'native'
}
