/** Opens a stream within a time. */
import type { Timers } from '../../base/ports.ts'
import { withTimeout } from '../../base/waiting.ts'
import { P2pError } from '../errors.ts'
import type { ByteStream, PeerLinks, PeerName } from '../peerLinks.ts'
import { abortReason } from './patientStream.ts'

/** Whom to ask for what, and how long. */
export interface OpenRequest {
  readonly peer: PeerName
  readonly protocols: readonly string[]
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** @throws P2pError `TIMEOUT`, what {@link PeerLinks.open} throws, or the signal's reason */
export async function openTimed(links: PeerLinks, timers: Timers, request: OpenRequest): Promise<ByteStream> {
  const { peer, protocols, timeoutMs, signal } = request
  const late = (): P2pError => new P2pError('TIMEOUT', `Cannot open a stream: no answer in ${timeoutMs} ms`)
  const open = (inTime: AbortSignal): Promise<ByteStream> => {
    const opening = links.open(peer, protocols, inTime)
    // A stream that comes too late has nobody left to use it.
    opening.then(
      (stream) => inTime.aborted && stream.abort(abortReason(inTime)),
      () => undefined,
    )
    return opening
  }
  return await withTimeout(timers, timeoutMs, late, open, signal)
}
