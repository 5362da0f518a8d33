/** Takes the finality certificates that a version 2 snapshot carries; each is verified as if a peer had sent it. */

import type { ArchiveStore } from '../archive/carStore.ts'
import { errorMessage } from '../base/errors.ts'
import { sleep } from '../base/waiting.ts'
import { decode } from '../codec/description.ts'
import { finalityCertificate } from '../consensus/f3/certificate.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import { powerTable } from '../consensus/f3/powerTable.ts'
import { getBlock } from '../ipld/blockstore.ts'
import { type F3DataHeader, F3DataReader, type F3DataSink } from '../sync/snapshot/f3Data.ts'
import { readMetadata } from '../sync/snapshot/metadata.ts'
import type { NodePorts } from './nodePorts.ts'

/** Verified at a time, a tenth of a second or so; then others get their turn. */
const SLICE = 8
/** Read at a time, bytes: some hundred certificates, which are held until they are verified. */
const PIECE = 1 << 18

/** Certificates that F3 lacks, as they come out of the data. */
class Waiting implements F3DataSink {
  readonly #f3: F3
  #next = 0
  #bytes: Uint8Array[] = []
  /** Whether F3 has all that the data hold. */
  isKnown = false

  constructor(f3: F3) {
    this.#f3 = f3
  }

  header({ firstInstance, latestInstance, initialPowerTable }: F3DataHeader): void {
    if (!this.#f3.isRunning) this.#f3.startFrom(decode(powerTable, initialPowerTable))
    this.#next = firstInstance
    this.isKnown = latestInstance < this.#f3.pendingInstance()
  }

  /** They lie there in order of instances: what is known need not be decoded. */
  certificate(bytes: Uint8Array): void {
    if (this.#next++ >= this.#f3.pendingInstance()) this.#bytes.push(bytes)
  }

  /** Those that have come since. */
  take(): Uint8Array[] {
    const taken = this.#bytes
    this.#bytes = []
    return taken
  }
}

/**
 * Resolves when all are taken, or with a line in the log when one is false: what is good before it stays, peers are asked
 * for the rest. Those of an earlier run are not verified again.
 */
export async function importF3Data(
  f3: F3,
  archive: ArchiveStore,
  ports: Pick<NodePorts, 'log' | 'timers'>,
  signal: AbortSignal,
): Promise<void> {
  const { log, timers } = ports
  try {
    const cid = readMetadata(archive, archive.roots)?.f3Data
    if (cid === undefined) return
    const data = getBlock(archive, cid)
    const waiting = new Waiting(f3)
    const reader = new F3DataReader(waiting)
    let count = 0
    for (let at = 0; at < data.length; at += PIECE) {
      reader.write(data.subarray(at, at + PIECE))
      if (waiting.isKnown) return
      const taken = waiting.take()
      for (let from = 0; from < taken.length; from += SLICE) {
        const slice = taken.slice(from, from + SLICE)
        f3.importCertificates(slice.map((bytes) => decode(finalityCertificate, bytes)))
        count += slice.length
        await sleep(timers, 0, signal)
      }
      await sleep(timers, 0, signal)
    }
    reader.end()
    log.info('finality certificates of the snapshot taken', { count })
  } catch (error) {
    if (signal.aborted) return
    log.warn('finality certificates of the snapshot not taken', { reason: errorMessage(error) })
  }
}
