/**
 * F3 as a follower has it: certificates that were verified one after the other, from the first power table on. It votes in
 * nothing.
 * @see lotus chain/lf3/f3.go F3Backend; go-f3 f3.go
 */
import { equalBytes } from '../../base/bytes.ts'
import type { KeyValueStore } from '../../base/ports.ts'
import { finish, type Steps } from '../../base/steps.ts'
import type { ChainView } from '../../chain/chainView.ts'
import type { Cid } from '../../codec/cid.ts'
import { hasBlock } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { Tipset, TipsetKey } from '../../types/tipset.ts'
import {
  chainBase,
  chainHead,
  type F3Tipset,
  type FinalityCertificate,
  f3TipsetOf,
  finalizedKey,
} from './certificate.ts'
import { CertificateStore } from './certificateStore.ts'
import { ecPowerTable } from './ecPowerTable.ts'
import { F3Error } from './errors.ts'
import type { F3Manifest } from './manifest.ts'
import { type PowerTable, powerTableCid, type ScaledPower } from './powerTable.ts'
import { Committee, equalF3Tipsets, verifyCertificate } from './verifyCertificate.ts'
import { type VerifiedCertificate, type VerifiedRun, verifyCertificates } from './verifyCertificates.ts'

/** Epochs that are walked back for the bootstrap at most: what is known of it elsewhere costs less. */
const MAX_WALK = 100_000
/** So many times the chain's finality in epochs: that of forks is counted in tipsets, and some rounds are null. */
const BURIED = 2
/** Certificates whose signatures are verified together: some 50 ms. */
const TOGETHER = 16

/** An instance, and the table that signs it, by its CID. */
export interface F3Start {
  readonly instance: number
  readonly powerTable: Cid
}

/** What {@link F3} reads, and where it keeps what it has verified. */
export interface F3Deps {
  readonly view: ChainView
  readonly manifest: F3Manifest
  /** Where certificates are kept; may be shared. */
  readonly store: KeyValueStore
  /** Where to begin in place of the manifest's first instance; nothing of the chain is read then. */
  readonly checkpoint?: F3Start
  /** Newest certificates that are kept at least. Default: all. */
  readonly kept?: number | undefined
}

/** Hears of a new newest certificate. */
export type CertificateListener = (certificate: FinalityCertificate) => void

/** The certificates of a network, verified. Synchronous; what is not at hand throws `BlockMissing`. */
export class F3 {
  readonly manifest: F3Manifest
  readonly #view: ChainView
  readonly #store: CertificateStore
  readonly #checkpoint: F3Start | undefined
  readonly #listeners = new Set<CertificateListener>()
  /** Of the pending instance. */
  #committee: Committee | undefined
  #isCheckpointSettled = false
  #latest: FinalityCertificate | undefined
  /** Who signed the newest certificate: others' certificates of its instance are compared with it in every round. */
  #signing: Committee | undefined

  constructor({ view, manifest, store, checkpoint, kept }: F3Deps) {
    this.manifest = manifest
    this.#view = view
    this.#checkpoint = checkpoint
    this.#store = new CertificateStore(store, manifest.networkName, kept)
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
    return finish(this.starting())
  }

  /**
   * {@link F3.start} in steps: the bootstrap may lie many epochs below the head. The first certificate's base, too, is looked for
   * there; once this has ended it is near at hand.
   */
  *starting(): Steps<boolean> {
    if (this.isRunning) {
      if (this.#latest === undefined) yield* this.#findFirstBase()
      return true
    }
    if (this.#view.store.head().height < this.manifest.bootstrapEpoch) return false
    const tipset = yield* this.#findBootstrap()
    // A snapshot may have brought the table meanwhile.
    if (!this.isRunning) this.startFrom(ecPowerTable(this.#view, tipset))
    return true
  }

  /**
   * Calls back when the chain has reached the bootstrap: at once where it has.
   * @returns what ends the waiting
   */
  onBootstrap(listener: () => void): () => void {
    const { store } = this.#view
    const isReached = (): boolean => this.isRunning || store.head().height >= this.manifest.bootstrapEpoch
    if (isReached()) {
      listener()
      return () => undefined
    }
    const stop = store.onHeadChange(() => {
      if (!isReached()) return
      stop()
      listener()
    })
    return stop
  }

  /**
   * Starts from a table that came from elsewhere (a snapshot, a peer): only the manifest's CID makes it true.
   * @throws F3Error `POWER_TABLE_WRONG`
   */
  startFrom(table: PowerTable): void {
    const wanted = this.#checkpoint?.powerTable ?? this.manifest.initialPowerTable
    const cid = powerTableCid(table)
    if (wanted !== null && !cid.equals(wanted)) {
      const text = `initial power table is ${cid.toString()}, the manifest wants ${wanted.toString()}`
      throw new F3Error('POWER_TABLE_WRONG', text)
    }
    const { instance } = this.#checkpoint ?? { instance: this.manifest.initialInstance }
    if (this.needsCheckpoint) {
      this.#store.restart(instance, table)
      this.#latest = undefined
      this.#signing = undefined
      this.#committee = undefined
    } else this.#store.initialize(instance, table)
  }

  /**
   * Whether the checkpoint's table is wanted: nothing is kept, or the checkpoint is newer than all that is.
   * @throws F3Error `POWER_TABLE_WRONG` when what was verified from an earlier checkpoint contradicts it
   */
  get needsCheckpoint(): boolean {
    if (this.#checkpoint === undefined || this.#isCheckpointSettled) return false
    const { instance, powerTable: wanted } = this.#checkpoint
    const first = this.#store.first()
    if (first === undefined || instance > this.pendingInstance()) return true
    if (instance >= first && !powerTableCid(this.#store.table(instance)).equals(wanted)) {
      const text = `the checkpoint of instance ${instance} contradicts the certificates that were verified before`
      throw new F3Error('POWER_TABLE_WRONG', text)
    }
    this.#isCheckpointSettled = true
    return false
  }

  /** The instance after the newest certificate. */
  pendingInstance(): number {
    return this.#latest === undefined ? (this.#store.first() ?? 0) : this.#latest.instance + 1
  }

  /** Where the pending instance begins; undefined where that is not at hand: before the first certificate. @throws BlockMissing */
  pendingBase(): F3Tipset | undefined {
    return this.#latest === undefined ? finish(this.#findFirstBase()) : chainHead(this.#latest)
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
    return finish(this.findPowerTable(instance))
  }

  /** {@link F3.powerTable} in steps: it may follow from many certificates. */
  *findPowerTable(instance: number): Steps<PowerTable> {
    this.#mustRun()
    if (instance === this.pendingInstance() && this.#committee !== undefined) return this.#committee.table
    return yield* this.#store.findTable(instance)
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
    let run: FinalityCertificate[] = []
    const finish = (): void => {
      const { verified, error } = this.#verify(run)
      run = []
      this.#keep(verified)
      added += verified.length
      if (error !== undefined) throw error
    }
    try {
      try {
        for (const certificate of certificates) {
          if (certificate.instance < this.pendingInstance() + run.length) continue
          if (run.push(certificate) === TOGETHER) finish()
        }
      } finally {
        finish()
      }
    } finally {
      if (added > 0) this.#tell()
    }
    return added
  }

  #verify(certificates: readonly FinalityCertificate[]): VerifiedRun {
    if (certificates.length === 0) return { verified: [], error: undefined }
    return verifyCertificates(certificates, {
      network: this.manifest.networkName,
      instance: this.pendingInstance(),
      committee: this.#pendingCommittee(),
      base: this.pendingBase(),
    })
  }

  #keep(verified: readonly VerifiedCertificate[]): void {
    const last = verified.at(-1)
    if (last === undefined) return
    this.#store.add(verified.map(({ certificate, next }) => ({ certificate, next: next.table })))
    this.#committee = last.next
    this.#latest = last.certificate
    this.#signing = last.committee
  }

  /**
   * Whether a certificate of an instance that was verified already decides something else, and is signed all the same. Honest
   * nodes' differ in who signed: one that decides the same is checked where it is of the newest instance, whose committee is at hand,
   * and nothing is taken from it elsewhere.
   * @throws F3Error when it is another certificate and fails a check
   */
  isFork(certificate: FinalityCertificate): boolean {
    const { instance } = certificate
    const known = this.certificate(instance)
    const isSame = sameDecision(known, certificate)
    const isNewest = instance === this.pendingInstance() - 1
    if (isSame && (!isNewest || equalBytes(known.signature, certificate.signature))) return false
    const committee = this.#committeeOf(instance)
    verifyCertificate(certificate, { network: this.manifest.networkName, instance, committee, base: chainBase(known) })
    return !isSame
  }

  /** The share of its instance's power whose holders signed a certificate that is kept, from 0 to 1. */
  signedShareOf(certificate: FinalityCertificate): number {
    return signedShare(certificate, this.#committeeOf(certificate.instance).scaled)
  }

  /** Whether the head never goes back behind what a certificate made final, whatever anybody says. */
  isBuried(certificate: FinalityCertificate): boolean {
    const { store, network } = this.#view
    return store.head().height - chainHead(certificate).epoch > BURIED * network.protocol.chainFinality
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

  /** Of a certificate that is kept. */
  #committeeOf(instance: number): Committee {
    const newest = this.#signingCommittee()
    return instance === this.pendingInstance() - 1 ? newest : new Committee(this.#store.table(instance), newest)
  }

  /** Of the newest certificate, which there is. */
  #signingCommittee(): Committee {
    this.#signing ??= new Committee(this.#store.table(this.pendingInstance() - 1))
    return this.#signing
  }

  *#findBootstrap(): Steps<Tipset> {
    const { bootstrapEpoch, finality } = this.manifest
    if (this.#view.store.head().height - bootstrapEpoch > MAX_WALK) {
      throw new F3Error('BOOTSTRAP_OUT_OF_REACH', `F3's bootstrap at epoch ${bootstrapEpoch} lies too far back`)
    }
    return yield* this.#view.store.findByHeight(Math.max(0, bootstrapEpoch - finality), undefined, 'previous')
  }

  /**
   * Where the first certificate must begin. undefined where the chain at hand does not say: then the signatures alone do, as in
   * go-f3's own exchange.
   */
  *#findFirstBase(): Steps<F3Tipset | undefined> {
    if (this.#checkpoint !== undefined) return undefined
    if (this.#view.store.head().height < this.manifest.bootstrapEpoch) return undefined
    let tipset: Tipset
    try {
      tipset = yield* this.#findBootstrap()
    } catch (error) {
      if (error instanceof BlockMissing || isOutOfReach(error)) return undefined
      throw error
    }
    return f3TipsetOf(tipset, powerTableCid(this.#store.table(this.manifest.initialInstance)))
  }
}

function signedShare({ signers }: FinalityCertificate, { each, total }: ScaledPower): number {
  let signed = 0
  for (const index of signers) signed += each[Number(index)] ?? 0
  return signed / total
}

/** Whether two certificates decide the same; who signed may differ. */
function sameDecision(a: FinalityCertificate, b: FinalityCertificate): boolean {
  return (
    a.ecChain.length === b.ecChain.length &&
    a.ecChain.every((tipset, i) => equalF3Tipsets(tipset, b.ecChain[i] as F3Tipset)) &&
    a.supplementalData.powerTable.equals(b.supplementalData.powerTable) &&
    equalBytes(a.supplementalData.commitments, b.supplementalData.commitments)
  )
}

/** Whether the first power table cannot be read off the chain here. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof F3Error && error.code === 'BOOTSTRAP_OUT_OF_REACH'
}
