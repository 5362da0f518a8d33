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
/** Verified between two pauses for others: some 50 ms. */
const STRETCH = 16

/** How far the certificates are. */
export interface CertificateProgress {
  /** The instance after the newest one that was verified. */
  readonly instance: number
  readonly verified: number
}

/** What {@link syncCertificates} works with. */
export interface CertificateSyncDeps {
  readonly f3: F3
  readonly checkpoint: LightCheckpoint
  readonly sources: SourceSet
  readonly timers: Timers
  readonly onProgress?: (progress: CertificateProgress) => void
}

/** Errors that say that a source lied, not that something went wrong here. */
function isLie(error: unknown): boolean {
  return error instanceof F3Error && error.code !== 'STORE_CORRUPT' && error.code !== 'NOT_RUNNING'
}

/**
 * Asks until no usable source has a newer certificate. Sources are asked one after the other; one that is silent keeps the next
 * waiting for no longer than `SILENT_MS`.
 * @returns how many were new
 * @throws LightError `NO_SOURCE`; `NO_ANSWER` also when nobody has the newest certificate that is verified already; `FORK`;
 * F3Error `POWER_TABLE_WRONG` when the checkpoint contradicts what was verified before
 */
export async function syncCertificates(deps: CertificateSyncDeps, signal: AbortSignal): Promise<number> {
  const { f3, sources } = deps
  if (f3.needsCheckpoint || !f3.isRunning) await fetchTable(deps, signal)
  const before = f3.pendingInstance()
  const round: Round = { answered: 0, failures: [], fork: undefined }
  const running: Promise<void>[] = []
  for (const source of sources.inOrder()) {
    if (source.certificates === undefined || round.fork !== undefined) continue
    // Whoever failed again and again is asked where nobody else answers.
    if (round.answered > 0 && sources.rests(source)) continue
    await new Promise<void>((resolve) => {
      running.push(followInRound(source, deps, { round, onSilent: resolve }, signal).finally(resolve))
    })
  }
  await Promise.all(running)
  signal.throwIfAborted()
  if (round.fork !== undefined) throw round.fork
  if (round.answered === 0) throw noAnswer(round.failures)
  return f3.pendingInstance() - before
}

/** What came of the sources that were asked. */
interface Round {
  /** Those that had the newest certificate, or a newer one; any where there is none yet. */
  answered: number
  readonly failures: string[]
  fork: LightError | undefined
}

/** Never rejects. */
async function followInRound(
  source: LightSource,
  deps: CertificateSyncDeps,
  { round, onSilent }: { readonly round: Round; readonly onSilent: () => void },
  signal: AbortSignal,
): Promise<void> {
  try {
    const newest = deps.f3.latest()?.instance
    if (await followSource(source, deps, onSilent, signal)) round.answered++
    else round.failures.push(`${source.name}: it does not have the certificate of instance ${newest}`)
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof LightError && error.code === 'FORK') round.fork = error
    else if (isLie(error)) deps.sources.drop(source, `its certificate is false: ${errorMessage(error)}`)
    round.failures.push(`${source.name}: ${errorMessage(error)}`)
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
 * @returns whether it has the newest known certificate, or a newer one: who is behind confirms nothing
 * @throws LightError `FORK`, `NO_ANSWER`; F3Error
 */
async function followSource(
  source: LightSource,
  deps: CertificateSyncDeps,
  onSilent: () => void,
  signal: AbortSignal,
): Promise<boolean> {
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
  for (let isConfirmed = known === undefined; ; isConfirmed = true) {
    const certificates = await next
    const fresh = withoutKnown(f3, certificates)
    if (fresh.length === 0) return isConfirmed || certificates.some(({ instance }) => instance === known)
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
