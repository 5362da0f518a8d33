/** Opens a stream within a time. */
import type { Timers } from '../../base/ports.ts'
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
  if (signal?.aborted === true) throw abortReason(signal)
  const control = new AbortController()
  const cancel = timers.setTimeout(
    () => control.abort(new P2pError('TIMEOUT', `Cannot open a stream: no answer in ${timeoutMs} ms`)),
    timeoutMs,
  )
  const onAbort = (): void => control.abort(abortReason(signal))
  signal?.addEventListener('abort', onAbort)
  try {
    const opening = links.open(peer, protocols, control.signal)
    const given = new Promise<never>((_, reject) => {
      control.signal.addEventListener('abort', () => reject(abortReason(control.signal)), { once: true })
    })
    // A stream that comes too late has nobody left to use it.
    opening.then(
      (late) => control.signal.aborted && late.abort(abortReason(control.signal)),
      () => undefined,
    )
    return await Promise.race([opening, given])
  } finally {
    cancel()
    signal?.removeEventListener('abort', onAbort)
  }
}
