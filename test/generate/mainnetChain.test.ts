import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchiveFile } from '../../platform/server/archiveFile.ts'
import { findNetwork } from '../../platform/server/networkFiles.ts'
import { extendChain, type GeneratedChain, openGenerated } from '../../scripts/generate/mainnetSize/chain.ts'
import { CHAIN_FILE, SNAPSHOT_FILES, writeChain, writeFiles } from '../../scripts/generate/mainnetSize/files.ts'
import { generateState } from '../../scripts/generate/mainnetSize/generateState.ts'
import { generatedManifest, generatedNetwork } from '../../scripts/generate/mainnetSize/network.ts'
import { sharesOf, sharesText } from '../../scripts/generate/mainnetSize/shares.ts'
import { sizeOf } from '../../scripts/generate/mainnetSize/size.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { BlockMessageReader, storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { decode } from '../../src/codec/description.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { networkBeacons } from '../../src/consensus/drandBeacon.ts'
import { validateBlock } from '../../src/consensus/validateBlock.ts'
import { mockWinningPoSt } from '../../src/consensus/winningPoSt.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { poolPrices } from '../../src/mempool/poolChain.ts'
import type { Network } from '../../src/networks/network.ts'
import { proveCommitSectors3Params } from '../../src/state/params/miner/commit.ts'
import { BLOCK_GAS_LIMIT } from '../../src/types/protocol.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import { silentLog } from '../support/recordedView.ts'
import { checkState } from './stateInvariants.ts'

/** A hundredth of mainnet: 35,000 actors, 30 miners, 50,000 sectors; the windows of two of them end with epoch 0. */
const SCALE = 0.01
const SEED = 1
const MANIFEST = generatedManifest(generatedNetwork()).manifestCid.toString()
const missing = missingBundle(MANIFEST)
/** Longer than a sector is committed before it is proven; most miners prove three windows in it, and cron ends them. */
const EPOCHS = 175
const MESSAGES = 8
const FOLLOWED = 12
/** First so many epochs with more messages than blocks have gas for. */
const FULL_EPOCHS = 2
const FULL_MESSAGES = 1_500
/** Some 15 s of the processor: minutes beside many other tests. */
const SETUP_MS = 900_000

const silent = (): void => undefined

describe.skipIf(missing !== undefined)('a chain on a state of a wanted size', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-size-chain-'))
  const size = sizeOf(SCALE, SEED)
  let network: Network
  let chain: GeneratedChain
  let head: Tipset

  beforeAll(async () => {
    await initCrypto()
    const bundle = readBundle(MANIFEST)
    const state = generateState({ folder: join(folder, 'work'), scale: SCALE, seed: SEED, bundle, say: silent })
    writeFiles(folder, state, silent)
    network = findNetwork(join(folder, 'network.json'))
    chain = await openGenerated(folder, network)
    await extendChain(chain, { size, epochs: FULL_EPOCHS, messages: FULL_MESSAGES, say: silent })
    head = await extendChain(chain, { size, epochs: EPOCHS, messages: MESSAGES, say: silent })
  }, SETUP_MS)
  afterAll(async () => {
    await chain.close()
    rmSync(folder, { recursive: true })
  })

  it('leaves states that fulfil what the actors demand; and messages succeed', async () => {
    const { stateRoot } = await chain.vm.tipsetState(head)
    const found = checkState(chain.blocks, stateRoot, generatedManifest(network), head.height)
    expect(found.problems).toEqual([])
    const exits = new Map<string, number>()
    for (let at = head; at.height > head.height - FOLLOWED; at = chain.view.store.parent(at)) {
      const { trace } = await chain.vm.compute(at, at.height, [])
      for (const { msg, msgRct, gasCost } of trace) {
        if (gasCost.message === null) continue
        const key = `method ${msg.method} exit code ${msgRct.exitCode}`
        exits.set(key, (exits.get(key) ?? 0) + 1)
      }
    }
    expect([...exits.keys()].filter((key) => !key.endsWith(' 0'))).toEqual([])
    expect(exits.get('method 3844450837 exit code 0')).toBeGreaterThan(0)
  })

  it('has messages of every sort, and they succeed', () => {
    const shares = sharesOf(chain.view, head)
    expect(shares.filter(({ failed }) => failed > 0)).toEqual([])
    const sorts = shares.map(({ actor, method }) => `${actor} ${method}`)
    // builtin-actors v18 actors/{miner,multisig,market}/src/lib.rs Method; FIP-0054 InvokeEVM.
    for (const method of [4, 5, 9, 10, 11, 16, 28, 32, 34, 35, 36]) expect(sorts).toContain(`storageminer ${method}`)
    for (const sort of [
      'account 0',
      'evm 3844450837',
      'multisig 2',
      'multisig 3',
      'storagemarket 2',
      'storagemarket 4',
      'storagepower 2',
    ])
      expect(sorts).toContain(sort)
    let [all, aggregated, withData] = [0, 0, 0]
    for (let at = chain.view.store.parent(head); at.height > 0; at = chain.view.store.parent(at)) {
      const messages = chain.view.tipsetMessages(at)
      all += messages.length
      for (const { message } of messages) {
        if (message.method !== 34n) continue
        const { aggregateProof, sectorActivations } = decode(proveCommitSectors3Params, message.params)
        if (aggregateProof.length > 0) aggregated++
        withData += sectorActivations.filter(({ pieces }) => pieces.length > 0).length
      }
    }
    expect(shares.reduce((sum, { count }) => sum + count, 0)).toBe(all)
    expect(sharesText(shares)).toHaveLength(shares.length)
    expect(aggregated).toBeGreaterThan(0)
    expect(withData).toBeGreaterThan(0)
  })

  it('is one archive with its states, down to the genesis', async () => {
    writeChain(folder, head, chain.own)
    const file = await openArchiveFile(join(folder, CHAIN_FILE), { home: folder })
    const store = openChain({
      blocks: new LayeredBlockstore([new MemoryBlockstore(), file.store]),
      meta: new MemoryStore(),
      log: silentLog,
      roots: file.store.roots,
    })
    const view = new ChainView({ store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
    expect(store.head().key.map(String)).toEqual(head.key.map(String))
    let tipsets = 0
    for (let at = store.head(); at.height > 0; at = store.parent(at), tipsets++) {
      expect(view.stateTree(firstBlock(at).parentStateRoot).getActor(1000n)?.balance).toBeGreaterThan(0n)
    }
    expect(tipsets).toBeGreaterThan(EPOCHS / 2)
    expect(store.genesis().key.map(String)).toEqual([String(network.genesisCid)])
    await file.close()
  })

  it('is followed by a node on the snapshot: every block is valid, every state the same', async () => {
    const file = await openArchiveFile(join(folder, SNAPSHOT_FILES.car), { home: folder })
    await file.ready
    const blocks = new LayeredBlockstore([new MemoryBlockstore(), file.store])
    const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: file.store.roots })
    const view = new ChainView({ store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
    const vm = new LocalVmHost({ view, proofs: acceptAllProofs, codeLoaders: createCodeLoaders({ blocks }) })
    const prices = poolPrices(view)
    const deps = {
      view,
      beaconAt: networkBeacons(network, firstBlock(store.genesis()).timestamp),
      winningPoSt: mockWinningPoSt,
      nowMs: () => Date.now(),
      minimumGas: (epoch: number, length: number) => prices.total(epoch, length),
    }
    const reader = new BlockMessageReader(chain.blocks)
    let base = store.genesis()
    let mostGas = 0n
    for (let height = 1; height <= FOLLOWED; height++) {
      const tipset = chain.view.store.tipsetByHeight(height, head, 'previous')
      if (tipset.height < height) continue
      const baseResult = await vm.executeTipset(base)
      for (const header of tipset.blocks) {
        const messages = reader.messages(header)
        const limits = [...messages.bls, ...messages.signed.map(({ message }) => message)].map(
          ({ gasLimit }) => gasLimit,
        )
        const gas = limits.reduce((sum, limit) => sum + limit, 0n)
        if (gas > mostGas) mostGas = gas
        storeBlockMessages(blocks, messages)
        validateBlock({ header, messages, base, baseResult }, deps)
        store.putHeader(header)
      }
      expect(baseResult.stateRoot.toString()).toBe(firstBlock(tipset).parentStateRoot.toString())
      base = tipset
    }
    // Where the limit counts.
    expect(mostGas).toBeGreaterThan((BLOCK_GAS_LIMIT * 9n) / 10n)
    await file.close()
  })
})
