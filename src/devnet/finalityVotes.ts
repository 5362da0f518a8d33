/**
 * The producers' votes on what is final. All their keys are in one place, so nothing is negotiated: each certificate decides on the
 * chain as far as go-f3's participants would propose it, and is signed by those that are here, if they have two thirds of the power.
 * Two certificates of one instance cannot come to be: only one node has so many keys, and it tells nobody of a certificate before the
 * disk has it, so that after a kill it signs no other one.
 * @see go-f3 host.go gpbftInputs GetProposal, collectChain
 */
import { equalBytes, toHex, utf8 } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import type { KeyValueStore, Logger, Timers } from '../base/ports.ts'
import { sleep } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import { decode, encode } from '../codec/description.ts'
import {
  type F3Tipset,
  type FinalityCertificate,
  f3TipsetOf,
  finalityCertificate,
  NO_COMMITMENTS,
} from '../consensus/f3/certificate.ts'
import { signingPayload } from '../consensus/f3/chainKey.ts'
import { ecPowerTable } from '../consensus/f3/ecPowerTable.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import { proposalRules } from '../consensus/f3/manifest.ts'
import {
  isStrongQuorum,
  type PowerTable,
  powerTableCid,
  powerTableDelta,
  scaledPower,
} from '../consensus/f3/powerTable.ts'
import { type BdnSigner, signTogether } from '../crypto/bdn.ts'
import { BLS_SIGNATURE_LENGTH, publicKey } from '../crypto/bls.ts'
import { bitFieldOf } from '../ipld/bitfield.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { type Tipset, tipsetKeyBytes } from '../types/tipset.ts'
import type { Producer } from './blocks.ts'

/** CBOR of a certificate. */
const SIGNED_KEY = utf8('devnet/certificate')

/** What votes need. */
export interface FinalityVotesDeps {
  /** Where certificates are kept and told of. */
  readonly f3: F3
  readonly view: ChainView
  /** Where the certificate is kept that was signed last. */
  readonly store: Pick<KeyValueStore, 'get' | 'put' | 'flush'>
  /** Runs what reads the chain, fetching what is missing. */
  readonly edge: BlockEdge
  readonly timers: Timers
  readonly log: Logger
}

/** Votes whenever the head moves, from {@link FinalityVotes.start} to {@link FinalityVotes.stop}. */
export class FinalityVotes {
  readonly #deps: FinalityVotesDeps
  /** By public key, in hex. */
  readonly #secrets: ReadonlyMap<string, Uint8Array>
  readonly #stopping = new AbortController()
  #unsubscribe: (() => void) | undefined
  #voting: Promise<void> | undefined
  /** The head has moved since it was looked at. */
  #isStale = false
  /** What was last said of why there is no vote. */
  #said = ''

  constructor(producers: readonly Producer[], deps: FinalityVotesDeps) {
    this.#deps = deps
    this.#secrets = new Map(producers.map(({ workerKey }) => [toHex(publicKey(workerKey)), workerKey]))
  }

  start(): void {
    this.#unsubscribe ??= this.#deps.view.store.onHeadChange(() => this.#wake())
    this.#wake()
  }

  /** Resolves when the vote under way is done. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#unsubscribe?.()
    await this.#voting
  }

  #wake(): void {
    this.#isStale = true
    this.#voting ??= this.#vote()
  }

  /** Not at once: whoever moved the head comes first, and between two certificates everybody else. */
  async #vote(): Promise<void> {
    const { timers } = this.#deps
    const { signal } = this.#stopping
    try {
      while (this.#isStale) {
        this.#isStale = false
        do await sleep(timers, 0, signal)
        while (await this.#advance(signal))
      }
    } catch (error) {
      if (!signal.aborted) this.#say(errorMessage(error))
    } finally {
      this.#voting = undefined
    }
  }

  /** Once for each reason: the head moves often. */
  #say(reason: string): void {
    if (reason !== this.#said) this.#deps.log.warn('no votes on finality', { reason })
    this.#said = reason
  }

  /** Makes the next certificate and tells of it. @returns whether there was anything to decide on */
  async #advance(signal: AbortSignal): Promise<boolean> {
    const { f3, store, edge } = this.#deps
    const certificate = await edge(() => this.#signed() ?? this.#decide(), signal)
    if (certificate === undefined) return false
    store.put(SIGNED_KEY, encode(finalityCertificate, certificate))
    await store.flush()
    await edge(() => f3.importCertificates([certificate]), signal)
    this.#said = ''
    return true
  }

  /** What was signed of the pending instance before a kill. */
  #signed(): FinalityCertificate | undefined {
    const { f3, store } = this.#deps
    const bytes = store.get(SIGNED_KEY)
    if (bytes === undefined || !f3.isRunning) return undefined
    const certificate = decode(finalityCertificate, bytes)
    return certificate.instance === f3.pendingInstance() ? certificate : undefined
  }

  /** The next certificate; undefined where there is nothing to decide on. */
  #decide(): FinalityCertificate | undefined {
    const { f3, view } = this.#deps
    if (!f3.start()) return undefined
    const base = f3.pendingBase()
    const chain = base === undefined ? [] : this.#proposal(base)
    if (chain.length === 0) return undefined
    const instance = f3.pendingInstance()
    const table = f3.powerTable(instance)
    const signers = this.#signers(table)
    if (signers.length === 0) {
      this.#say('the keys that are here have less than two thirds of the power')
      return undefined
    }
    const next = f3.committeeFromState(instance + 1)
    const unsigned: FinalityCertificate = {
      instance,
      ecChain: [
        base as F3Tipset,
        ...chain.map((tipset) => f3TipsetOf(tipset, powerTableCid(ecPowerTable(view, tipset)))),
      ],
      supplementalData: { commitments: NO_COMMITMENTS, powerTable: powerTableCid(next) },
      signers: bitFieldOf(signers.map(({ index }) => index)),
      signature: new Uint8Array(BLS_SIGNATURE_LENGTH),
      powerTableDelta: powerTableDelta(table, next),
    }
    const keys = table.map((entry) => entry.publicKey)
    const signature = signTogether(signingPayload(f3.manifest.networkName, unsigned), keys, signers)
    return { ...unsigned, signature }
  }

  /** What is voted on above `base`: oldest first, without the newest tipsets, and no more than a certificate holds. */
  #proposal(base: F3Tipset): Tipset[] {
    const { f3, view } = this.#deps
    const { store } = view
    const { headLookback, proposedLength } = proposalRules(f3.manifest)
    let tip = store.head()
    for (let i = 0; i < headLookback && tip.height > base.epoch; i++) tip = store.parent(tip)
    if (tip.height <= base.epoch) return []
    const far = store.tipsetByHeight(Math.min(tip.height, base.epoch + proposedLength - 1), tip, 'previous')
    // Nothing but null rounds there.
    tip = far.height > base.epoch ? far : store.tipsetByHeight(base.epoch + 1, tip, 'next')
    const chain: Tipset[] = []
    for (; tip.height > base.epoch; tip = store.parent(tip)) chain.push(tip)
    // A head beside what is final: it will not stay.
    if (!equalBytes(tipsetKeyBytes(tip.key), base.key)) return []
    return chain.reverse()
  }

  /** Those whose keys are here, if they can decide; else none. */
  #signers(table: PowerTable): BdnSigner[] {
    const { each, total } = scaledPower(table)
    const signers: BdnSigner[] = []
    let power = 0
    for (const [index, entry] of table.entries()) {
      const secretKey = this.#secrets.get(toHex(entry.publicKey))
      const own = each[index] as number
      if (secretKey === undefined || own === 0) continue
      signers.push({ index, secretKey })
      power += own
    }
    return isStrongQuorum(power, total) ? signers : []
  }
}
