/**
 * Keys of storage proofs in a tab: kept in IndexedDB, fetched when one is first missed. Until it is there the proof is
 * presumed, and the node says so. The node and the thread of its machine each have one of these on the same database.
 */
import { createStore, entries, set, type UseStore } from 'idb-keyval'
import { errorMessage } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'
import type { Network } from '../../src/networks/network.ts'
import type { ValidateMode } from '../../src/node/modes.ts'
import type { NodeProofs } from '../../src/node/nodeParts.ts'
import { type KeyFolder, keysOf, loadCurve, presumedOf } from '../../src/node/proofs.ts'
import type { ProofKeys } from '../../src/proofs/keys/keyName.ts'
import { checkDigest } from '../../src/proofs/keys/loadedKeys.ts'
import { networkKeyFiles } from '../../src/proofs/keys/networkKeys.ts'
import { fileName, KEY_FILES, type KeyFile, PARAMETER_GATEWAYS } from '../../src/proofs/keys/parameters.ts'
import type { ProofOptions } from './nodeOptions.ts'

/** Shared by all nodes of the origin. */
const DATABASE = 'petrel-proofs'
const STORE = 'keys'
/** After a failure a key is asked for again no sooner, ms. */
const RETRY_MS = 600_000

/** The keys that this tab has, in memory and in IndexedDB. */
export class TabProofFiles implements KeyFolder {
  readonly #store: UseStore
  readonly #gateways: readonly string[]
  readonly #log: Logger
  readonly #check: typeof checkDigest
  readonly #files: Map<string, Uint8Array>
  /** When a key may be asked for again, ms since the epoch. */
  readonly #askedUntil = new Map<string, number>()

  private constructor(
    store: UseStore,
    kept: readonly (readonly [string, Uint8Array])[],
    gateways: readonly string[],
    log: Logger,
    check: typeof checkDigest,
  ) {
    this.#check = check
    this.#store = store
    this.#files = new Map(kept)
    this.#gateways = gateways
    this.#log = log
  }

  /**
   * Opens what is kept.
   * @param gateways - asked in order; none: nothing is fetched
   * @param check - refuses what was fetched, by throwing
   */
  static async open(
    log: Logger,
    gateways: readonly string[],
    check: typeof checkDigest = checkDigest,
  ): Promise<TabProofFiles> {
    const store = createStore(DATABASE, STORE)
    return new TabProofFiles(store, await entries<string, Uint8Array>(store), gateways, log, check)
  }

  has(name: string): boolean {
    return this.#files.has(name)
  }

  readonly read = (name: string): Uint8Array | undefined => {
    const found = this.#files.get(name)
    if (found === undefined) this.#ask(name)
    return found
  }

  #ask(name: string): void {
    // The reference string of aggregation has 300 MB: it is not for a tab.
    const file = KEY_FILES.find((candidate) => fileName(candidate) === name)
    if (file === undefined || Date.now() < (this.#askedUntil.get(name) ?? 0)) return
    this.#askedUntil.set(name, Date.now() + RETRY_MS)
    this.fetch(file).catch((error: unknown) => {
      this.#log.warn('key of storage proofs not fetched', { name, reason: errorMessage(error) })
    })
  }

  /** Asks the gateways for a key, and keeps it. */
  async fetch(file: KeyFile): Promise<void> {
    for (const gateway of this.#gateways) {
      try {
        const response = await fetch(`${gateway}${file.cid}`)
        const bytes = new Uint8Array(await response.arrayBuffer())
        this.#check(file, bytes)
        await set(fileName(file), bytes, this.#store)
        this.#files.set(fileName(file), bytes)
        return
      } catch (error) {
        this.#log.info('gateway without a key', { gateway, name: fileName(file), reason: errorMessage(error) })
      }
    }
  }
}

/** How a tab's node verifies: with keys that come from these gateways. */
export interface TabVerification {
  readonly proofs: NodeProofs
  readonly gateways: readonly string[]
}

/** @returns undefined: by what the chain says, or proofs are mocked */
export async function tabVerification(
  network: Network,
  mode: ValidateMode,
  { proofs, keyGateways: gateways = PARAMETER_GATEWAYS }: ProofOptions,
  log: Logger,
): Promise<TabVerification | undefined> {
  if (network.proofs === 'accept' || proofs === 'receipts') return undefined
  const files = await TabProofFiles.open(log, gateways)
  // Headers need the smallest keys alone: 27 KB of 5 MB.
  const wanted = networkKeyFiles(network.name).filter(({ circuit }) => mode === 'execute' || circuit === 'winning')
  for (const file of wanted) files.read(fileName(file))
  const keys = keysOf(files, loadCurve(log))
  return { proofs: { keys, presumed: (used) => presumedOf(used, files) }, gateways }
}

/** Keys for the thread of the machine. */
export async function machineKeys(log: Logger, gateways: readonly string[]): Promise<ProofKeys> {
  return keysOf(await TabProofFiles.open(log, gateways), loadCurve(log))
}
