/** One question, one answer, one stream. */
import { P2pError } from '../errors.ts'
import type { ByteStream, PeerLinks, PeerName } from '../peerLinks.ts'
import { openTimed } from './openTimed.ts'
import { type Pace, PatientStream, type Time } from './patientStream.ts'
import { StreamReader } from './streamReader.ts'

/** Times and sizes of a protocol's questions. */
export interface AskLimits {
  readonly openMs: number
  readonly writeMs: number
  /** From the question's end to the answer's. */
  readonly answerMs: number
  readonly pace?: Pace
  /** Of the answer. */
  readonly maxBytes: number
}

/** What is asked of whom, by which protocol, and how long and large the answer may be. */
export interface Question {
  readonly peer: PeerName
  readonly protocol: string
  readonly request: Uint8Array
  readonly limits: AskLimits
  readonly signal?: AbortSignal | undefined
}

/** How long the other side may take to end a stream whose answer is complete, milliseconds. */
const LINGER_MS = 2000

/**
 * Opens a stream, writes the request, ends that side, and hands the answer to `read`.
 * @throws P2pError and what `read` throws; the stream is reset then
 */
export async function ask<T>(
  links: PeerLinks,
  time: Time,
  question: Question,
  read: (reader: StreamReader) => Promise<T>,
): Promise<T> {
  const { peer, protocol, request, limits, signal } = question
  const stream = await openTimed(links, time.timers, { peer, protocols: [protocol], timeoutMs: limits.openMs, signal })
  const withSignal = signal === undefined ? {} : { signal }
  try {
    const writing = new PatientStream(stream, time, { totalMs: limits.writeMs, ...withSignal })
    try {
      await writing.write(request)
      await writing.closeWrite()
    } finally {
      writing.release()
    }
    const pace = limits.pace === undefined ? {} : { pace: limits.pace }
    const reading = new PatientStream(stream, time, { totalMs: limits.answerMs, ...pace, ...withSignal })
    try {
      const answer = await read(new StreamReader(reading, limits.maxBytes))
      linger(stream, time)
      return answer
    } finally {
      reading.release()
    }
  } catch (error) {
    stream.abort(error instanceof Error ? error : new P2pError('STREAM_RESET', String(error)))
    throw error
  }
}

/** Lets the other side end the stream in peace; resets it when it does not. */
export function linger(stream: ByteStream, time: Time): void {
  const patient = new PatientStream(stream, time, { totalMs: LINGER_MS })
  patient.read().then(
    (more) => {
      patient.release()
      if (more !== undefined) stream.abort(new P2pError('STREAM_RESET', 'more than the answer'))
    },
    () => patient.release(),
  )
}
