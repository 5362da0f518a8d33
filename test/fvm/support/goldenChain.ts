/** Executes the tipsets of a recorded chain and hands over what Lotus recorded about each. */
import { readFileSync } from 'node:fs'
import { nativeZstd } from '../../../platform/server/zstd.ts'
import { openArchive } from '../../../src/archive/openArchive.ts'
import { BlockMessageReader } from '../../../src/chain/blockMessages.ts'
import type { ChainStore } from '../../../src/chain/chainStore.ts'
import { ChainError } from '../../../src/chain/errors.ts'
import { openChain } from '../../../src/chain/openChain.ts'
import { ChainRandomness } from '../../../src/chain/randomness.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import { parseJson } from '../../../src/codec/jsonText.ts'
import { mockBeacon } from '../../../src/consensus/beacon.ts'
import {
  type AppliedMessage,
  type ExecutionDeps,
  executeTipset,
  type TipsetResult,
} from '../../../src/execution/executeTipset.ts'
import { ExternFailure, type Externs } from '../../../src/fvm/externs.ts'
import type { CodeLoader } from '../../../src/fvm/kernel/kernel.ts'
import { acceptAllProofs } from '../../../src/fvm/proofVerifier.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import { NodeCache } from '../../../src/ipld/nodeCache.ts'
import { type Network, networkVersionAt } from '../../../src/networks/network.ts'
import { parseNetwork } from '../../../src/networks/parseNetwork.ts'
import { firstBlock, type Tipset, tipsetKeyCid } from '../../../src/types/tipset.ts'
import { sharedPath } from '../../support/shared.ts'
import { bundleStore } from './actorCode.ts'

export interface GoldenChain {
  readonly network: Network
  readonly store: LayeredBlockstore
  /** Below what execution writes. */
  readonly archive: Blockstore
  /** The actors' bundles. */
  readonly bundles: Blockstore
  readonly chain: ChainStore
  /** From genesis to the head, genesis excluded. */
  readonly tipsets: readonly Tipset[]
}

/** What the archive and the bundles of all actors versions hold, in one store. */
export function openGoldenChain(name: string): GoldenChain {
  const folder = `data/golden/${name}`
  const network = parseNetwork(parseJson(readFileSync(sharedPath(`${folder}/network.json`), 'utf8')))
  const nodes = new NodeCache()
  const source = memorySource(new Uint8Array(readFileSync(sharedPath(`${folder}/chain.car.zst`))))
  const archive = openArchive(source, { zstd: nativeZstd, verify: 'never', nodes })
  const top = new MemoryBlockstore(nodes)
  const bundles = bundleStore(network)
  const store = new LayeredBlockstore([top, archive, bundles], nodes)
  const meta = new Map<string, Uint8Array>()
  const chain = openChain({
    blocks: store,
    meta: mapStore(meta),
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    roots: archive.roots,
  })
  const tipsets: Tipset[] = []
  for (let tipset = chain.head(); tipset.height > 0; tipset = chain.parent(tipset)) tipsets.unshift(tipset)
  return { network, store, archive, bundles, chain, tipsets }
}

function ignore(): void {}

function mapStore(map: Map<string, Uint8Array>): never {
  const key = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
  return {
    get: (k: Uint8Array) => map.get(key(k)),
    has: (k: Uint8Array) => map.has(key(k)),
    put: (k: Uint8Array, v: Uint8Array) => void map.set(key(k), v),
    delete: (k: Uint8Array) => void map.delete(key(k)),
    keys: () => [],
    batch: (ops: readonly { key: Uint8Array; value?: Uint8Array }[]) => {
      for (const { key: k, value } of ops) value === undefined ? map.delete(key(k)) : map.set(key(k), value)
    },
    flush: async () => {},
    close: async () => {},
  } as never
}

/** The chain up to `parent` as the machine asks about it. */
export function externsOf(golden: GoldenChain, parent: Tipset): Externs {
  const randomness = new ChainRandomness(
    golden.chain,
    {
      networkVersion: (epoch) => networkVersionAt(golden.network, epoch),
      beaconRound: (epoch) => mockBeacon.roundAt(epoch),
    },
    parent,
  )
  const failing = <T>(ask: () => T): T => {
    try {
      return ask()
    } catch (error) {
      if (error instanceof ChainError) throw new ExternFailure(error.message, { cause: error })
      throw error
    }
  }
  return {
    chainRandomness: (epoch) => failing(() => randomness.ticketDigest(epoch)),
    beaconRandomness: (epoch) => failing(() => randomness.beaconDigest(epoch)),
    tipsetCid: (epoch) => {
      let tipset = parent
      while (tipset.height > epoch) tipset = golden.chain.parent(tipset)
      return tipsetKeyCid(tipset.key)
    },
    verifyConsensusFault: () => undefined,
  }
}

export function executionDeps(
  golden: GoldenChain,
  tipset: Tipset,
  loadCode: CodeLoader,
  store?: Blockstore,
): ExecutionDeps {
  return {
    network: golden.network,
    genesisTimestamp: golden.network.genesisTimestamp as number,
    store: store ?? golden.store,
    externs: externsOf(golden, tipset),
    proofs: acceptAllProofs,
    loadCode,
  }
}

/** Executes one tipset with traces. */
export function executeGolden(
  golden: GoldenChain,
  tipset: Tipset,
  loadCode: CodeLoader,
  store?: Blockstore,
): { result: TipsetResult; applied: AppliedMessage[] } {
  const reader = new BlockMessageReader(golden.store)
  const parent = golden.chain.parent(tipset)
  const applied: AppliedMessage[] = []
  const result = executeTipset(
    executionDeps(golden, tipset, loadCode, store),
    {
      tipset,
      parentEpoch: parent.height,
      parentState: firstBlock(tipset).parentStateRoot,
      messages: tipset.blocks.map((block) => reader.messages(block)),
      tracing: true,
    },
    (one) => {
      applied.push(one)
      return false
    },
  )
  return { result: result as TipsetResult, applied }
}
