/** Takes the finality certificates that a version 2 snapshot carries; each is verified as if a peer had sent it. */

import type { ArchiveStore } from '../archive/carStore.ts'
import { errorMessage } from '../base/errors.ts'
import { sleep } from '../base/waiting.ts'
import { decode } from '../codec/description.ts'
import type { FinalityCertificate } from '../consensus/f3/certificate.ts'
import { finalityCertificate } from '../consensus/f3/certificate.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import { powerTable } from '../consensus/f3/powerTable.ts'
import { readF3Data } from '../sync/snapshot/f3Data.ts'
import { readMetadata } from '../sync/snapshot/metadata.ts'
import type { NodePorts } from './nodePorts.ts'

/** Verified at a time, a tenth of a second or so; then others get their turn. */
const SLICE = 8

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
    const data = readMetadata(archive, archive.roots)?.f3Data
    if (data === undefined) return
    const certificates: FinalityCertificate[] = []
    readF3Data(archive, data, {
      header: ({ initialPowerTable }) => {
        if (!f3.isRunning) f3.startFrom(decode(powerTable, initialPowerTable))
      },
      certificate: (bytes) => {
        const certificate = decode(finalityCertificate, bytes)
        if (certificate.instance >= f3.pendingInstance()) certificates.push(certificate)
      },
    })
    for (let at = 0; at < certificates.length && !signal.aborted; at += SLICE) {
      f3.importCertificates(certificates.slice(at, at + SLICE))
      await sleep(timers, 0)
    }
    log.info('finality certificates of the snapshot taken', { count: certificates.length })
  } catch (error) {
    log.warn('finality certificates of the snapshot not taken', { reason: errorMessage(error) })
  }
}
