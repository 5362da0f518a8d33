/**
 * Serves finality certificates.
 * @see go-f3 certexchange/server.go handleRequest
 */
import { errorMessage } from '../../base/errors.ts'
import { Pace } from '../../base/pace.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import type { Steps } from '../../base/steps.ts'
import { Serial } from '../../base/waiting.ts'
import { decode, encode } from '../../codec/description.ts'
import type { PowerTable } from '../../consensus/f3/powerTable.ts'
import { P2pError } from '../errors.ts'
import { linger } from '../framing/ask.ts'
import { PatientStream, type Time } from '../framing/patientStream.ts'
import { StreamReader } from '../framing/streamReader.ts'
import { PeerBudget } from '../peerBudget.ts'
import { type ByteStream, type PeerLinks, type PeerName, reportError } from '../peerLinks.ts'
import { ServiceGate } from '../serviceGate.ts'
import { type UnsentAnswer, UnsentAnswers } from '../unsentAnswers.ts'
import {
  BUSY_MS,
  MAX_CERTIFICATES,
  MAX_REQUEST_BYTES,
  READ_GATE,
  READ_REQUEST_MS,
  SERVER_BUDGET,
  SERVER_GATE,
  SERVER_MS,
  STALL_MS,
  UNSENT,
} from './limits.ts'
import { type CertRequest, certExchangeProtocol, certRequest, certResponseHeader } from './messages.ts'

/** The certificates that a node has. */
export interface CertificateSource {
  /** The instance after the newest certificate; 0 without any. */
  pendingInstance(): number
  /** A certificate as CBOR; undefined where there is none. */
  certificateCbor(instance: number): Uint8Array | undefined
  /** The table that signs an instance, up to the pending one, in steps. May throw: nothing is answered then, as go-f3 does. */
  findPowerTable(instance: number): Steps<PowerTable>
}

/** Where certificates and power tables come from. */
export interface CertServerDeps {
  readonly links: PeerLinks
  /** F3's own name of the network. */
  readonly f3Network: string
  readonly certificates: CertificateSource
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

/** Starts serving. @returns what ends it */
export function serveCertExchange(deps: CertServerDeps): { stop(): void } {
  const { links, clock, timers, log } = deps
  const time: Time = { clock, timers }
  const readGate = new ServiceGate(READ_GATE)
  const gate = new ServiceGate(SERVER_GATE)
  const budget = new PeerBudget(clock, SERVER_BUDGET)
  const control = new AbortController()
  const walks = new Serial()
  /** One table after the other: who asks for the same one as another finds it computed. */
  const tableOf = (instance: number): Promise<PowerTable> =>
    walks.run(() => new Pace(clock, timers, BUSY_MS).walk(deps.certificates.findPowerTable(instance), control.signal))
  const unsent = new UnsentAnswers(UNSENT)
  /** Those who have what one peer may have are reported; who is turned away because of others is not. */
  const entered = async <T>(to: ServiceGate, peer: PeerName, turn: Promise<T | undefined>): Promise<T> => {
    const begun = await turn
    if (begun !== undefined) return begun
    if (to.hasShare(peer)) links.report(peer, { fault: 'FLOOD', reason: 'certificate requests at once' })
    throw new P2pError('PEER_REFUSED', 'too many requests')
  }
  const read = async (peer: PeerName, stream: ByteStream): Promise<CertRequest> => {
    const leave = await entered(readGate, peer, readGate.enter(peer, givingWay(stream)))
    const patient = new PatientStream(stream, time, { totalMs: READ_REQUEST_MS, signal: control.signal })
    try {
      return await readRequest(links, peer, patient)
    } finally {
      patient.release()
      leave()
    }
  }
  const write = async (peer: PeerName, stream: ByteStream, request: CertRequest): Promise<void> => {
    const turn = await entered(gate, peer, gate.enterToMake(peer))
    const held = unsent.begin(peer, givingWay(stream))
    const patience = { totalMs: SERVER_MS, stallMs: STALL_MS, signal: control.signal }
    const patient = new PatientStream(stream, time, patience)
    try {
      const { header, certificates } = await answer(deps.certificates, tableOf, request)
      turn.made()
      await send(patient, held, header, certificates)
    } finally {
      patient.release()
      held.end()
      turn.leave()
    }
  }
  const end = links.handle(certExchangeProtocol(deps.f3Network), async (peer, stream) => {
    if (!budget.take(peer)) {
      links.report(peer, { fault: 'FLOOD', reason: 'certificate requests' })
      throw new P2pError('PEER_REFUSED', 'too many requests')
    }
    try {
      await write(peer, stream, await read(peer, stream))
      linger(stream, time)
    } catch (error) {
      log.debug('certificates not served', { peer, error: errorMessage(error) })
      throw error
    }
  })
  return {
    stop: () => {
      end()
      control.abort(new P2pError('NOT_STARTED', 'Cannot answer: stopped'))
    },
  }
}

function givingWay(stream: ByteStream): () => void {
  return () => stream.abort(new P2pError('PEER_REFUSED', 'others wait'))
}

async function readRequest(links: PeerLinks, peer: PeerName, stream: ByteStream): Promise<CertRequest> {
  try {
    return decode(certRequest, await new StreamReader(stream, MAX_REQUEST_BYTES).cborItem(MAX_REQUEST_BYTES))
  } catch (error) {
    reportError(links, peer, 'certificate request', error)
    throw error
  }
}

/** An answer: what it begins with, and its certificates, each made when it is sent. */
interface Answer {
  readonly header: Uint8Array
  readonly certificates: Iterable<Uint8Array>
}

async function answer(
  source: CertificateSource,
  tableOf: (instance: number) => Promise<PowerTable>,
  request: CertRequest,
): Promise<Answer> {
  const pending = source.pendingInstance()
  // No certificate beyond 2^53 will ever be: the number is only compared.
  const first = Number(request.firstInstance)
  const wantsTable = request.includePowerTable && pending >= first
  const table = wantsTable ? await tableOf(first) : []
  const limit = request.limit > BigInt(MAX_CERTIFICATES) ? MAX_CERTIFICATES : Number(request.limit)
  // One more than the limit, as go-f3; nothing beyond what the header said.
  const last = Math.min(first + limit, pending - 1)
  const header = encode(certResponseHeader, { pendingInstance: pending, powerTable: [...table] })
  return { header, certificates: between(source, first, last) }
}

function* between(source: CertificateSource, first: number, last: number): IterableIterator<Uint8Array> {
  for (let instance = first; instance <= last; instance++) {
    const certificate = source.certificateCbor(instance)
    if (certificate === undefined) return
    yield certificate
  }
}

async function send(
  stream: PatientStream,
  held: UnsentAnswer,
  header: Uint8Array,
  certificates: Iterable<Uint8Array>,
): Promise<void> {
  held.is(header.length)
  await stream.write(header)
  for (const certificate of certificates) {
    held.is(certificate.length)
    await stream.write(certificate)
  }
  await stream.closeWrite()
}
