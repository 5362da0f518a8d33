/**
 * The cache of builtin-actors bundles: one CAR per manifest, `<folder>/<manifest CID>.car`. Every block is checked
 * against its CID before it is used.
 */

import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { carBlocks, carSections, readCarHeader } from '../../src/archive/car.ts'
import { errorMessage, PetrelError } from '../../src/base/errors.ts'
import { memorySource, readExactly } from '../../src/codec/byteSource.ts'
import { type Cid, CODEC_RAW, parseCid } from '../../src/codec/cid.ts'
import { type Blockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { isBlockOf } from '../../src/ipld/verifyBlock.ts'
import { loadManifest } from '../../src/state/manifest.ts'
import { PlatformError } from './errors.ts'
import { openFileSource } from './fileSource.ts'

const SUFFIX = '.car'

/** Bundles in a folder. */
export class ActorBundles {
  readonly folder: string
  readonly #first: readonly string[]
  /** Which bundle has the block of a CID, of the bundles that were looked into. */
  readonly #bundleOf = new Map<string, string>()
  /** Those that were not, the next one last; undefined: none was. */
  #unread: string[] | undefined

  /**
   * Nothing is read or created yet.
   * @param first - manifest CIDs of bundles in which most is found: to look into all of a full folder takes a thread a fifth of its start
   */
  constructor(folder: string, first: readonly string[] = []) {
    this.folder = folder
    this.#first = first
  }

  /** Manifest CIDs of the bundles that are here, sorted. */
  list(): string[] {
    if (!existsSync(this.folder)) return []
    return readdirSync(this.folder)
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .sort()
  }

  has(manifest: Cid): boolean {
    return existsSync(this.#path(manifest.toString()))
  }

  /** What is wrong with a bundle that is here: each block hashes to its CID, and all that the manifest names is there. undefined: nothing. */
  damage(manifest: string): string | undefined {
    const file = openFileSource(this.#path(manifest))
    try {
      if (readCarHeader(file).roots[0]?.toString() !== manifest) return 'it is not the bundle that its name says'
      const blocks = new MemoryBlockstore()
      for (const [cid, data] of carBlocks(file)) {
        if (!isBlockOf(cid, data)) return `block ${cid} is damaged`
        blocks.put(cid, data)
      }
      for (const [name, code] of loadManifest(blocks, parseCid(manifest))) {
        if (!blocks.has(code)) return `the code of ${name} is not in it`
      }
      return undefined
    } catch (error) {
      if (!(error instanceof PetrelError)) throw error
      return errorMessage(error)
    } finally {
      file.close()
    }
  }

  /** @throws PlatformError `BUNDLE_INVALID` where a bundle is here and is damaged; needs the crypto to be loaded */
  assertSound(manifest: Cid): void {
    const reason = this.has(manifest) ? this.damage(manifest.toString()) : undefined
    if (reason === undefined) return
    const path = this.#path(manifest.toString())
    throw new PlatformError('BUNDLE_INVALID', `Cannot use ${path}: ${reason}; take it away, and petrel actors fetch`)
  }

  /** The Wasm module of a code CID out of any bundle; undefined when no bundle has it. */
  code(code: Cid): Uint8Array | undefined {
    return code.codec === CODEC_RAW ? this.block(code) : undefined
  }

  /** Whether a bundle names the block. */
  includes(wanted: Cid): boolean {
    return this.#bundleWith(wanted) !== undefined
  }

  /** A block out of any bundle, Wasm module or part of a manifest; undefined when no bundle has it. */
  block(wanted: Cid): Uint8Array | undefined {
    const manifest = this.#bundleWith(wanted)
    if (manifest === undefined) return undefined
    const file = openFileSource(this.#path(manifest))
    try {
      const header = readCarHeader(file)
      for (const { cid, dataOffset, dataLength } of carSections(header)) {
        if (!cid.equals(wanted)) continue
        const data = readExactly(header.source, dataOffset, dataLength).slice()
        return isBlockOf(cid, data) ? data : undefined
      }
      return undefined
    } finally {
      file.close()
    }
  }

  /**
   * Takes a bundle into the cache.
   * @returns CID of its manifest
   * @throws PlatformError `BUNDLE_INVALID`; IpldError, CodecError when it is no archive
   */
  add(car: Uint8Array): Cid {
    const source = memorySource(car)
    const [root, ...others] = readCarHeader(source).roots
    if (root === undefined || others.length > 0) throw invalid('expected one root, the manifest')
    let hasRoot = false
    let modules = 0
    for (const [cid, data] of carBlocks(source)) {
      if (!isBlockOf(cid, data)) throw invalid(`block ${cid.toString()} does not hash to its CID`)
      if (cid.equals(root)) hasRoot = true
      if (cid.codec === CODEC_RAW) modules++
    }
    if (!hasRoot) throw invalid('its root is not in it')
    if (modules === 0) throw invalid('no actor code is in it')
    mkdirSync(this.folder, { recursive: true })
    const path = this.#path(root.toString())
    const temporary = `${path}.tmp-${process.pid}`
    writeFileSync(temporary, car)
    renameSync(temporary, path)
    this.#unread?.push(root.toString())
    return root
  }

  #path(manifest: string): string {
    return join(this.folder, `${manifest}${SUFFIX}`)
  }

  /** The bundle that names a block; looks into no more of them than it takes. */
  #bundleWith(wanted: Cid): string | undefined {
    this.#unread ??= this.list().sort((a, b) => this.#rank(b) - this.#rank(a))
    for (;;) {
      const known = this.#bundleOf.get(wanted.key)
      if (known !== undefined) return known
      const next = this.#unread.pop()
      if (next === undefined) return undefined
      this.#index(next)
    }
  }

  #rank(manifest: string): number {
    const at = this.#first.indexOf(manifest)
    return at < 0 ? this.#first.length : at
  }

  #index(manifest: string): void {
    const file = openFileSource(this.#path(manifest))
    try {
      parseCid(manifest)
      for (const { cid } of carSections(readCarHeader(file))) this.#bundleOf.set(cid.key, manifest)
    } catch (error) {
      if (!(error instanceof PetrelError)) throw error
      // A file that somebody else put there and that is no archive is none of ours.
    } finally {
      file.close()
    }
  }
}

/** The bundles' blocks as a store below others: actors' code and manifests are objects of the chain. Takes nothing. */
export function bundledBlocks(bundles: ActorBundles): Blockstore {
  const get = (cid: Cid): Uint8Array | undefined => bundles.block(cid)
  return {
    get,
    has: (cid) => bundles.includes(cid),
    put: () => undefined,
  }
}

function invalid(reason: string): PlatformError {
  return new PlatformError('BUNDLE_INVALID', `Cannot use the actors bundle: ${reason}`)
}
