/**
 * Brings the certificates from the checkpoint to the newest one, each verified. A source whose certificate fails a check is
 * dropped; two signed certificates of one instance end everything: then more than a third of the power signed twice, and
 * nothing after it can be believed.
 */

import { errorMessage } from '../base/errors.ts'
import type { Timers } from '../base/ports.ts'
import { sleep } from '../base/waiting.ts'
import type { FinalityCertificate } from '../consensus/f3/certificate.ts'
import { F3Error } from '../consensus/f3/errors.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import type { LightCheckpoint } from './checkpoint.ts'
import { LightError } from './errors.ts'
import type { LightSource } from './lightSource.ts'
import { SILENT_MS } from './limits.ts'
import type { SourceSet } from './sourceSet.ts'

/** Certificates asked for at once. */
const BATCH = 128
/** Peers that are asked in each round, of those that had the newest certificate; and strangers beside them, or first. */
const KNOWN = 8
const STRANGERS = 4
/** Verified between two pauses for others: some 50 ms. */
const STRETCH = 16

/** How far the certificates are. */
export interface CertificateProgress {
  /** The instance after the newest one that was verified. */
  readonly instance: number
  readonly verified: number
}

/** What {@link CertificateSync} works with. */
export interface CertificateSyncDeps {
  readonly f3: F3
  readonly checkpoint: LightCheckpoint
  readonly sources: SourceSet
  readonly timers: Timers
  readonly onProgress?: (progress: CertificateProgress) => void
  /** Hears which source has the newest certificate. */
  readonly onUseful?: (source: string) => void
}

/** Errors that say that a source lied, not that something went wrong here. */
function isLie(error: unknown): boolean {
  return error instanceof F3Error && error.code !== 'STORE_CORRUPT' && error.code !== 'NOT_RUNNING'
}

/** What came of the sources that were asked in a round. */
interface Round {
  /** Those that had the newest certificate, or a newer one. */
  answered: number
  /** Where there is no certificate yet: those that have none either. */
  without: number
  readonly failures: string[]
}

/** What a source has, beside what is known: the newest certificate or a newer one, none as everybody, or not the newest. */
type Has = 'newest' | 'none yet' | 'less'

/**
 * Asks round after round. Those who had the newest certificate before come first, one after the other; one that is silent keeps the next
 * waiting for no longer than `SILENT_MS`. Where one of them answers, a few strangers are asked beside, and what they have is there in
 * the next round; where none does, more and more strangers at once. Who is not heard of in time is not asked anew while it may answer still.
 */
export class CertificateSync {
  readonly #deps: CertificateSyncDeps
  /** Peers that had the newest certificate, by name, and have not failed since. */
  readonly #proven = new Set<string>()
  /** Strangers; who was asked longest ago is first. */
  readonly #asked = new Set<string>()
  /** Who is waited for no longer, and may answer still. */
  readonly #underWay = new Set<string>()
  #fork: LightError | undefined

  constructor(deps: CertificateSyncDeps) {
    this.#deps = deps
  }

  /**
   * One round.
   * @returns how many certificates were new
   * @throws LightError `NO_SOURCE`; `NO_ANSWER` also when nobody has the newest certificate that is verified already; `FORK`, in
   * each round from then on; F3Error `POWER_TABLE_WRONG` when the checkpoint contradicts what was verified before
   */
  async round(signal: AbortSignal): Promise<number> {
    const { f3, sources } = this.#deps
    if (f3.needsCheckpoint || !f3.isRunning) await fetchTable(this.#deps, signal)
    const before = f3.pendingInstance()
    const round: Round = {
      answered: 0,
      without: 0,
      failures: [...this.#underWay].map((name) => `${name}: no answer yet`),
    }
    const { known, strangers } = this.#candidates()
    const running: Promise<void>[] = []
    const ask = (source: LightSource): Promise<void> =>
      new Promise((resolve) => {
        running.push(this.#askOne(source, { round, onSilent: resolve }, signal).finally(resolve))
      })
    for (const source of known) {
      if (this.#fork !== undefined) break
      // Whoever failed again and again is asked where nobody else answers.
      if (round.answered === 0 || !sources.rests(source)) await ask(source)
    }
    if (round.answered > 0) {
      const fresh = strangers.filter((source) => !sources.rests(source))
      for (const source of fresh.slice(0, STRANGERS)) void ask(source)
    }
    let from = 0
    for (let count = STRANGERS; round.answered === 0 && from < strangers.length; count *= 2) {
      if (this.#fork !== undefined) break
      await Promise.all(strangers.slice(from, from + count).map(ask))
      from += count
    }
    if (round.answered === 0 && this.#fork === undefined) await Promise.all(running)
    signal.throwIfAborted()
    if (this.#fork !== undefined) throw this.#fork
    if (round.answered + round.without === 0) throw noAnswer(round.failures)
    return f3.pendingInstance() - before
  }

  /** Who can be asked now: those who are asked in each round, and the others, whose turn is longest ago first. */
  #candidates(): { readonly known: readonly LightSource[]; readonly strangers: readonly LightSource[] } {
    const { sources } = this.#deps
    const all = sources.inOrder().filter((source) => source.certificates !== undefined)
    const names = new Set(all.map(({ name }) => name))
    for (const kept of [this.#proven, this.#asked]) for (const name of kept) if (!names.has(name)) kept.delete(name)
    const free = all.filter(({ name }) => !this.#underWay.has(name))
    const peers = free.filter(({ kind, name }) => kind === 'peer' && this.#proven.has(name)).slice(0, KNOWN)
    const known = new Set([...free.filter(({ kind }) => kind === 'rpc'), ...peers])
    const turns = new Map([...this.#asked].map((name, turn) => [name, turn]))
    const turn = ({ name }: LightSource): number => turns.get(name) ?? -1
    return {
      known: free.filter((source) => known.has(source)),
      strangers: free.filter((source) => !known.has(source)).sort((a, b) => turn(a) - turn(b)),
    }
  }

  /** Never rejects. */
  async #askOne(
    source: LightSource,
    { round, onSilent }: { readonly round: Round; readonly onSilent: () => void },
    signal: AbortSignal,
  ): Promise<void> {
    const { name } = source
    this.#asked.delete(name)
    this.#asked.add(name)
    this.#underWay.add(name)
    try {
      const newest = this.#deps.f3.latest()?.instance
      const has = await followSource(source, this.#deps, onSilent, signal)
      if (has === 'newest') {
        round.answered++
        this.#proven.add(name)
        this.#deps.onUseful?.(name)
      } else if (has === 'none yet') round.without++
      else round.failures.push(`${name}: it does not have the certificate of instance ${newest}`)
    } catch (error) {
      if (signal.aborted) return
      this.#proven.delete(name)
      if (error instanceof LightError && error.code === 'FORK') this.#fork = error
      else if (isLie(error)) this.#deps.sources.drop(source, `its certificate is false: ${errorMessage(error)}`)
      round.failures.push(`${name}: ${errorMessage(error)}`)
    } finally {
      this.#underWay.delete(name)
    }
  }
}

function noAnswer(failures: readonly string[]): LightError {
  if (failures.length === 0) return new LightError('NO_SOURCE', 'Cannot follow finality: nobody is there to ask')
  return new LightError('NO_ANSWER', `Cannot follow finality: ${failures.join('; ')}`)
}

async function fetchTable({ f3, checkpoint, sources }: CertificateSyncDeps, signal: AbortSignal): Promise<void> {
  await sources.first((source) => {
    const { powerTable } = source
    if (powerTable === undefined) return undefined
    return async (inner) => {
      const table = await powerTable(checkpoint.instance, inner)
      if (!f3.needsCheckpoint && f3.isRunning) return
      try {
        f3.startFrom(table)
      } catch (error) {
        if (error instanceof F3Error) sources.drop(source, `its power table is false: ${errorMessage(error)}`)
        throw error
      }
    }
  }, signal)
}

/**
 * Takes what one source has. The newest known certificate is asked for again: a fork shows there.
 * @param onSilent - told each time that an answer takes long
 * @returns what it has: who is behind confirms nothing
 * @throws LightError `FORK`, `NO_ANSWER`; F3Error
 */
async function followSource(
  source: LightSource,
  deps: CertificateSyncDeps,
  onSilent: () => void,
  signal: AbortSignal,
): Promise<Has> {
  const { f3, sources, timers } = deps
  const ask = async (first: number): Promise<readonly FinalityCertificate[]> => {
    const cancel = timers.setTimeout(onSilent, SILENT_MS)
    try {
      return await sources.ask(
        source,
        async (inner) => (await source.certificates?.(first, BATCH, inner)) ?? [],
        signal,
      )
    } finally {
      cancel()
    }
  }
  const known = f3.latest()?.instance
  let next = ask(known ?? f3.pendingInstance())
  for (let hasNewer = false; ; hasNewer = true) {
    const certificates = await next
    const fresh = withoutKnown(f3, certificates)
    if (fresh.length === 0) {
      if (hasNewer || certificates.some(({ instance }) => instance === known)) return 'newest'
      // Another source may have brought the first ones meanwhile.
      return f3.latest() === undefined ? 'none yet' : 'less'
    }
    const last = fresh.at(-1) as FinalityCertificate
    // The next batch travels while this one is verified. Whatever becomes of it, it is awaited or not wanted any more.
    next = ask(last.instance + 1)
    next.catch(() => undefined)
    await verifyAll(fresh, deps, signal)
  }
}

/** Another source may have brought some of them meanwhile. @throws LightError `FORK`; F3Error */
function withoutKnown(f3: F3, certificates: readonly FinalityCertificate[]): readonly FinalityCertificate[] {
  const pending = f3.pendingInstance()
  for (const certificate of certificates) {
    if (certificate.instance < pending && f3.isFork(certificate)) {
      throw new LightError('FORK', `Two certificates of instance ${certificate.instance} are signed: F3 has failed`)
    }
  }
  return certificates.filter(({ instance }) => instance >= pending)
}

async function verifyAll(
  certificates: readonly FinalityCertificate[],
  { f3, timers, onProgress }: CertificateSyncDeps,
  signal: AbortSignal,
): Promise<void> {
  let verified = 0
  for (let i = 0; i < certificates.length; i += STRETCH) {
    signal.throwIfAborted()
    verified += f3.importCertificates(certificates.slice(i, i + STRETCH))
    onProgress?.({ instance: f3.pendingInstance(), verified })
    await sleep(timers, 0)
  }
}
