import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchiveFile } from '../../platform/server/archiveFile.ts'
import { SNAPSHOT_FILES, writeFiles } from '../../scripts/generate/mainnetSize/files.ts'
import { type GeneratedState, generateState } from '../../scripts/generate/mainnetSize/generateState.ts'
import { generatedManifest, generatedNetwork } from '../../scripts/generate/mainnetSize/network.ts'
import { actorCount, firstIdOf, sizeOf } from '../../scripts/generate/mainnetSize/size.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import type { Network } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { startNode } from '../runtimes/nodeProcess.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { seeded } from '../support/seeded.ts'
import { fileDigest } from './fileDigest.ts'
import { checkState } from './stateInvariants.ts'

/** A hundredth of mainnet. */
const SCALE = 0.01
const SEED = 1
/** Of what is made several times. */
const TINY = 0.0005
const MANIFEST = generatedManifest(generatedNetwork()).manifestCid.toString()
const missing = missingBundle(MANIFEST)

const silent = (): void => undefined

describe('a state of a wanted size', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-size-'))
  const size = sizeOf(SCALE, SEED)
  let state: GeneratedState
  let network: Network

  beforeAll(async () => {
    await initCrypto()
    const bundle = missing === undefined ? readBundle(MANIFEST) : undefined
    state = generateState({ folder: join(folder, 'work'), scale: SCALE, seed: SEED, bundle, say: silent })
    writeFiles(folder, state, silent)
    network = parseNetwork(parseJson(readFileSync(join(folder, 'network.json'), 'utf8')))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is the same, bytes and all, when making it was broken off again and again', () => {
    const whole = generateState({ folder: join(folder, 'whole'), scale: TINY, seed: SEED, say: silent })
    const random = seeded('broken off')
    let breaks = 0
    const made = (): GeneratedState | undefined => {
      let left = 1 + random.int(12)
      try {
        const say = (): void => {
          if (--left === 0) throw new Error('broken off')
        }
        return generateState({ folder: join(folder, 'broken'), scale: TINY, seed: SEED, say, checkpointMs: 0 })
      } catch (error) {
        if ((error as Error).message !== 'broken off') throw error
        breaks++
        return undefined
      }
    }
    let again = made()
    while (again === undefined) again = made()
    expect(breaks).toBeGreaterThan(0)
    expect(again.genesis.toString()).toBe(whole.genesis.toString())
    expect(fileDigest(again.body)).toBe(fileDigest(whole.body))
  })

  it('fulfils what the actors demand of a state', async () => {
    expect(network.genesisCid?.toString()).toBe(state.genesis.toString())
    const file = await openArchiveFile(join(folder, SNAPSHOT_FILES.forest), { home: folder })
    try {
      expect(file.store.roots.map(String)).toEqual([state.genesis.toString()])
      const header = getCbor(file.store, blockHeader, state.genesis)
      const found = checkState(file.store, header.parentStateRoot, generatedManifest(network), 0)
      expect(found.problems).toEqual([])
      expect(found.counts.get('storageminer')).toBe(size.counts.miner)
      expect(found.counts.get('evm')).toBe(size.counts.contract)
      expect(found.counts.get('placeholder')).toBe(size.counts.placeholder)
      const actors = [...found.counts.values()].reduce((sum, count) => sum + count, 0)
      expect(actors).toBeGreaterThan(actorCount(size))
      expect(found.sectors).toBeGreaterThan(size.sectors * 0.95)
      expect(found.deals).toBeGreaterThan(found.sectors / 6)
      expect(found.claims).toBeGreaterThan(found.sectors / 6)
    } finally {
      await file.close()
    }
  })

  it('is opened by a node in each form of its snapshot, which answer alike', async () => {
    const miner = 't01001'
    const contract = `t0${firstIdOf(size, 'contract')}`
    const questions: [string, ...unknown[]][] = [
      ['ChainHead'],
      ['StateGetActor', 't05', []],
      ['StateGetActor', contract, []],
      ['StateLookupRobustAddress', contract, []],
      ['StateAccountKey', `t0${firstIdOf(size, 'bls')}`, []],
      ['StateListMiners', []],
      ['StateMinerPower', miner, []],
      ['StateMinerSectors', miner, null, []],
      ['StateMinerDeadlines', miner, []],
      ['StateMarketStorageDeal', 7, []],
      ['StateGetClaims', miner, []],
    ]
    const answers: string[][] = []
    for (const [form, name] of Object.entries(SNAPSHOT_FILES)) {
      const args = ['--network', join(folder, 'network.json'), '--snapshot', join(folder, name)]
      const node = await startNode('node', join(folder, `home-${form}`), ['daemon', ...args, '--api', '0', '--no-net'])
      try {
        const rpc = new RpcClient(node.url, node.token)
        const found: string[] = []
        for (const [method, ...params] of questions) found.push(JSON.stringify(await rpc.call(method, ...params)))
        answers.push(found)
      } finally {
        await node.stop()
      }
    }
    const [car, zstd, forest] = answers
    expect(zstd).toEqual(car)
    expect(forest).toEqual(car)
    expect(car?.every((answer) => answer.length > 2 && answer !== 'null')).toBe(true)
  })
})
