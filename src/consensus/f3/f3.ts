/**
 * F3 as a follower has it: certificates that were verified one after the other, from the first power table on. It votes in
 * nothing.
 * @see lotus chain/lf3/f3.go F3Backend; go-f3 f3.go
 */
import type { KeyValueStore } from '../../base/ports.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { hasBlock } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { type Tipset, type TipsetKey, tipsetKeyBytes } from '../../types/tipset.ts'
import { chainHead, type F3Tipset, type FinalityCertificate, finalizedKey } from './certificate.ts'
import { CertificateStore } from './certificateStore.ts'
import { ecPowerTable } from './ecPowerTable.ts'
import { F3Error } from './errors.ts'
import type { F3Manifest } from './manifest.ts'
import { type PowerTable, powerTableCid } from './powerTable.ts'
import { Committee, verifyCertificate } from './verifyCertificate.ts'

/** Bytes of a tipset's commitments; zeros so far. */
const COMMITMENTS_BYTES = 32
/** Epochs that are walked back for the bootstrap at most: what is known of it elsewhere costs less. */
const MAX_WALK = 100_000

export interface F3Deps {
  readonly view: ChainView
  readonly manifest: F3Manifest
  /** Where certificates are kept; may be shared. */
  readonly store: KeyValueStore
}

/** Hears of a new newest certificate. */
export type CertificateListener = (certificate: FinalityCertificate) => void

/** The certificates of a network, verified. Synchronous; what is not at hand throws `BlockMissing`. */
export class F3 {
  readonly manifest: F3Manifest
  readonly #view: ChainView
  readonly #store: CertificateStore
  readonly #listeners = new Set<CertificateListener>()
  /** Of the pending instance. */
  #committee: Committee | undefined
  #latest: FinalityCertificate | undefined

  constructor({ view, manifest, store }: F3Deps) {
    this.manifest = manifest
    this.#view = view
    this.#store = new CertificateStore(store, manifest.networkName)
    const latest = this.#store.latest()
    if (latest !== undefined) this.#latest = this.#store.certificate(latest)
  }

  /** Whether the first power table is known, so that certificates can be taken. */
  get isRunning(): boolean {
    return this.#store.first() !== undefined
  }

  /**
   * Starts from the state at the bootstrap, once the chain has reached it. Harmless when started.
   * @returns whether it runs now
   * @throws F3Error `POWER_TABLE_WRONG` when the state's table is not the manifest's, `BOOTSTRAP_OUT_OF_REACH`; BlockMissing
   */
  start(): boolean {
    if (this.isRunning) return true
    if (this.#view.store.head().height < this.manifest.bootstrapEpoch) return false
    this.startFrom(ecPowerTable(this.#view, this.#bootstrapTipset()))
    return true
  }

  /**
   * Starts from a table that came from elsewhere (a snapshot, a peer): only the manifest's CID makes it true.
   * @throws F3Error `POWER_TABLE_WRONG`
   */
  startFrom(table: PowerTable): void {
    const { initialPowerTable, initialInstance } = this.manifest
    const cid = powerTableCid(table)
    if (initialPowerTable !== null && !cid.equals(initialPowerTable)) {
      const text = `initial power table is ${cid.toString()}, the manifest wants ${initialPowerTable.toString()}`
      throw new F3Error('POWER_TABLE_WRONG', text)
    }
    this.#store.initialize(initialInstance, table)
  }

  /** The instance after the newest certificate. */
  pendingInstance(): number {
    return this.#latest === undefined ? (this.#store.first() ?? 0) : this.#latest.instance + 1
  }

  /** The newest certificate; undefined without any. */
  latest(): FinalityCertificate | undefined {
    return this.#latest
  }

  /** @throws F3Error `NOT_RUNNING`, `NOT_FOUND` */
  certificate(instance: number): FinalityCertificate {
    this.#mustRun()
    const found = this.#store.certificate(instance)
    if (found === undefined) throw new F3Error('NOT_FOUND', `cert at ${instance}: certificate not found`)
    return found
  }

  /** Bytes of a certificate; undefined where there is none. */
  certificateCbor(instance: number): Uint8Array | undefined {
    return this.#store.cbor(instance)
  }

  /** The table that signs an instance, up to the pending one. @throws F3Error `NOT_RUNNING`, `NOT_FOUND`, `FUTURE_INSTANCE` */
  powerTable(instance: number): PowerTable {
    this.#mustRun()
    return instance === this.pendingInstance() ? this.#pendingCommittee().table : this.#store.table(instance)
  }

  /** The table that a tipset leads to, of this chain's state. */
  ecPowerTable(key: TipsetKey): PowerTable {
    return ecPowerTable(this.#view, this.#view.store.tipsetOrHead(key))
  }

  /**
   * The table that must sign an instance by the chain's own state: the first one, or that of the head of the certificate so
   * many instances back.
   * @throws F3Error `NOT_FOUND`; BlockMissing
   */
  committeeFromState(instance: number): PowerTable {
    const { initialInstance, committeeLookback } = this.manifest
    if (instance < initialInstance + committeeLookback) return this.#store.table(initialInstance)
    return this.ecPowerTable(finalizedKey(this.certificate(instance - committeeLookback)))
  }

  /**
   * Verifies certificates and keeps them, in order from the pending instance on; older ones are passed over. Listeners hear
   * of the last one. Those before a wrong one stay.
   * @returns how many were new
   * @throws F3Error with the code of the check that failed
   */
  importCertificates(certificates: Iterable<FinalityCertificate>): number {
    this.#mustRun()
    let added = 0
    try {
      for (const certificate of certificates) {
        if (certificate.instance < this.pendingInstance()) continue
        const next = verifyCertificate(certificate, {
          network: this.manifest.networkName,
          instance: this.pendingInstance(),
          committee: this.#pendingCommittee(),
          base: this.#latest === undefined ? this.#firstBase() : chainHead(this.#latest),
        })
        this.#store.add(certificate, next.table)
        this.#committee = next
        this.#latest = certificate
        added++
      }
    } finally {
      if (added > 0) this.#tell()
    }
    return added
  }

  /** @returns what ends the subscription */
  onCertificate(listener: CertificateListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The newest final tipset; undefined without any, or while its headers are not at hand. */
  finalizedTipset(): Tipset | undefined {
    if (this.#latest === undefined) return undefined
    const key = finalizedKey(this.#latest)
    const { store } = this.#view
    return key.every((cid) => hasBlock(store.blocks, cid)) ? store.tipset(key) : undefined
  }

  #tell(): void {
    const latest = this.#latest as FinalityCertificate
    for (const listener of [...this.#listeners]) listener(latest)
  }

  #mustRun(): void {
    if (!this.isRunning) throw new F3Error('NOT_RUNNING', 'f3 is not running')
  }

  #pendingCommittee(): Committee {
    this.#committee ??= new Committee(this.#store.table(this.pendingInstance()))
    return this.#committee
  }

  #bootstrapTipset(): Tipset {
    const { bootstrapEpoch, finality } = this.manifest
    if (this.#view.store.head().height - bootstrapEpoch > MAX_WALK) {
      throw new F3Error('BOOTSTRAP_OUT_OF_REACH', `F3's bootstrap at epoch ${bootstrapEpoch} lies too far back`)
    }
    return this.#view.store.tipsetByHeight(Math.max(0, bootstrapEpoch - finality), undefined, 'previous')
  }

  /**
   * Where the first certificate must begin. undefined where the chain at hand does not say: then the signatures alone do, as in
   * go-f3's own exchange.
   */
  #firstBase(): F3Tipset | undefined {
    if (this.#view.store.head().height < this.manifest.bootstrapEpoch) return undefined
    let tipset: Tipset
    try {
      tipset = this.#bootstrapTipset()
    } catch (error) {
      if (error instanceof BlockMissing || isOutOfReach(error)) return undefined
      throw error
    }
    return {
      epoch: tipset.height,
      key: tipsetKeyBytes(tipset.key),
      powerTable: powerTableCid(this.#store.table(this.manifest.initialInstance)),
      commitments: new Uint8Array(COMMITMENTS_BYTES),
    }
  }
}

/** Whether the first power table cannot be read off the chain here. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof F3Error && error.code === 'BOOTSTRAP_OUT_OF_REACH'
}
