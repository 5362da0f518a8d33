/**
 * Answers to pings, each before the next is read. libp2p's own gives back whatever comes, of any length, and its clock keeps what a stream
 * held for ten seconds after it has ended: a peer that opens streams and fills them makes the node hold a gigabyte.
 * @see go-libp2p p2p/protocol/ping/ping.go PingService.PingHandler; libp2p/specs ping/ping.md
 */
import type { Stream } from '@libp2p/interface'
import { errorMessage } from '../../base/errors.ts'
import type { Logger, Timers } from '../../base/ports.ts'
import { P2pError } from '../errors.ts'
import { StreamReader } from '../framing/streamReader.ts'
import { SILENT_MS } from './hostLimits.ts'
import { HostStream } from './hostStream.ts'

/** Bytes of a ping. */
const PING_BYTES = 32

/** What of the library answers. */
export interface PingService {
  handlePing?: (stream: Stream) => Promise<void>
}

/** What answering needs. */
interface PingPorts {
  readonly timers: Timers
  readonly log: Logger
}

/**
 * Makes a service answer so. Before it starts.
 * @throws P2pError `NOT_SUPPORTED` when the library answers elsewhere
 */
export function answerPings(service: PingService, ports: PingPorts): void {
  // A version that calls it otherwise must not answer without bounds unseen.
  if (service.handlePing === undefined) throw new P2pError('NOT_SUPPORTED', 'this ping has no method handlePing')
  service.handlePing = (stream) => answerAll(new HostStream(stream), ports)
}

async function answerAll(stream: HostStream, { timers, log }: PingPorts): Promise<void> {
  const reader = new StreamReader(stream, Number.POSITIVE_INFINITY)
  const answer = async (): Promise<boolean> => {
    const late = (): void => stream.abort(new P2pError('TIMEOUT', 'no ping in time'))
    const cancel = timers.setTimeout(late, SILENT_MS)
    try {
      await stream.write(await reader.bytes(PING_BYTES))
      return true
    } finally {
      cancel()
    }
  }
  // What ends them is the stream's end, most often: there is nobody to tell.
  const ended = (error: unknown): boolean => {
    log.debug('pings ended', { reason: errorMessage(error) })
    return false
  }
  while (await answer().catch(ended));
  stream.release(timers)
}
