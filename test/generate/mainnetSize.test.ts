import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchiveFile } from '../../platform/server/archiveFile.ts'
import { SNAPSHOT_FILES, writeFiles } from '../../scripts/generate/mainnetSize/files.ts'
import { type GeneratedState, generateState } from '../../scripts/generate/mainnetSize/generateState.ts'
import { generatedManifest } from '../../scripts/generate/mainnetSize/network.ts'
import { actorCount } from '../../scripts/generate/mainnetSize/size.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { seeded } from '../support/seeded.ts'
import { checkState } from './stateInvariants.ts'

/** A five hundredth of mainnet: 7,000 actors, 6 miners, 10,000 sectors. */
const SCALE = 0.002

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

describe('a state of a wanted size', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-size-'))
  let state: GeneratedState

  beforeAll(async () => {
    await initCrypto()
    state = generateState({ folder: join(folder, 'whole'), scale: SCALE, seed: 1, say: () => undefined })
    writeFiles(folder, state, () => undefined)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is the same, bytes and all, when making it was broken off again and again', () => {
    const random = seeded('broken off')
    const broken = join(folder, 'broken')
    let breaks = 0
    const made = (): GeneratedState | undefined => {
      let left = 1 + random.int(20)
      try {
        const say = (): void => {
          if (--left === 0) throw new Error('broken off')
        }
        return generateState({ folder: broken, scale: SCALE, seed: 1, say, checkpointMs: 0 })
      } catch (error) {
        if ((error as Error).message !== 'broken off') throw error
        breaks++
        return undefined
      }
    }
    let again = made()
    while (again === undefined) again = made()
    expect(breaks).toBeGreaterThan(0)
    expect(again.genesis.toString()).toBe(state.genesis.toString())
    expect(digest(again.body)).toBe(digest(state.body))
  })

  it('fulfils what the actors demand of a state, in each form of its snapshot', async () => {
    const network = parseNetwork(parseJson(readFileSync(join(folder, 'network.json'), 'utf8')))
    expect(network.genesisCid?.toString()).toBe(state.genesis.toString())
    const { counts, sectors } = state.size
    for (const name of Object.values(SNAPSHOT_FILES)) {
      const file = await openArchiveFile(join(folder, name), { home: folder })
      try {
        await file.ready
        expect(file.store.roots.map(String)).toEqual([state.genesis.toString()])
        const header = getCbor(file.store, blockHeader, state.genesis)
        const found = checkState(file.store, header.parentStateRoot, generatedManifest(network), 0)
        expect(found.problems).toEqual([])
        expect(found.counts.get('storageminer')).toBe(counts.miner)
        expect(found.counts.get('evm')).toBe(counts.contract)
        expect(found.counts.get('placeholder')).toBe(counts.placeholder)
        expect([...found.counts.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(
          actorCount(state.size),
        )
        expect(found.sectors).toBeGreaterThan(sectors * 0.95)
        expect(found.deals).toBeGreaterThan(found.sectors / 6)
        expect(found.claims).toBeGreaterThan(found.sectors / 6)
      } finally {
        file.close()
      }
    }
  })
})
