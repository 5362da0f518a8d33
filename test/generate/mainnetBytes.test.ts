/** A generated chain is named by its scale and seed: whoever makes it has the same files, however often making it was broken off. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findNetwork } from '../../platform/server/networkFiles.ts'
import { extendChain, openGenerated } from '../../scripts/generate/mainnetSize/chain.ts'
import {
  CHAIN_FILE,
  NETWORK_FILE,
  SNAPSHOT_FILES,
  writeChain,
  writeFiles,
} from '../../scripts/generate/mainnetSize/files.ts'
import { generateState } from '../../scripts/generate/mainnetSize/generateState.ts'
import { generatedManifest, generatedNetwork } from '../../scripts/generate/mainnetSize/network.ts'
import { sizeOf } from '../../scripts/generate/mainnetSize/size.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import { fileDigest } from './fileDigest.ts'

/** 1,750 actors, five miners. */
const SCALE = 0.0005
const SEED = 1
const EPOCHS = 4
const MESSAGES = 20
const FILES = [...Object.values(SNAPSHOT_FILES), CHAIN_FILE, NETWORK_FILE]
const MANIFEST = generatedManifest(generatedNetwork()).manifestCid.toString()
const missing = missingBundle(MANIFEST)
const BROKEN_OFF = new Error('broken off')

describe.skipIf(missing !== undefined)('files of a generated chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-size-bytes-'))
  let bundle: Uint8Array

  beforeAll(async () => {
    await initCrypto()
    bundle = readBundle(MANIFEST)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** @param until - how that which it says begins when it is broken off */
  function makeState(into: string, seed: number, until?: string): void {
    const say = (text: string): void => {
      if (until !== undefined && text.startsWith(until)) throw BROKEN_OFF
    }
    const state = generateState({ folder: join(into, 'work'), scale: SCALE, seed, bundle, say, checkpointMs: 0 })
    writeFiles(into, state, say)
  }

  async function makeChain(into: string, seed: number, epochs: number): Promise<void> {
    const chain = await openGenerated(into, findNetwork(join(into, NETWORK_FILE)))
    try {
      const head = await extendChain(chain, {
        size: sizeOf(SCALE, seed),
        epochs,
        messages: MESSAGES,
        say: () => undefined,
      })
      writeChain(into, head, chain.own)
    } finally {
      await chain.close()
    }
  }

  async function make(name: string, seed: number): Promise<Record<string, string>> {
    const into = join(folder, name)
    mkdirSync(into)
    makeState(into, seed)
    await makeChain(into, seed, EPOCHS)
    return digests(into)
  }

  function digests(of: string): Record<string, string> {
    return Object.fromEntries(FILES.map((name) => [name, fileDigest(join(of, name))]))
  }

  it('have the same bytes of the same seed, also when making them was broken off; other bytes of another', async () => {
    const whole = await make('whole', SEED)
    const into = join(folder, 'broken')
    mkdirSync(into)
    for (const until of ['miners', 'address map', SNAPSHOT_FILES.car]) {
      expect(() => makeState(into, SEED, until)).toThrow(BROKEN_OFF)
    }
    makeState(into, SEED)
    for (const epochs of [1, EPOCHS / 2, EPOCHS]) await makeChain(into, SEED, epochs)
    expect(digests(into)).toEqual(whole)
    const other = await make('other', SEED + 1)
    expect(FILES.filter((name) => other[name] === whole[name])).toEqual([])
  })
})
