/**
 * Asks a peer for finality certificates. What comes is decoded and in sequence; whether it is true is for F3 to say.
 * @see go-f3 certexchange/client.go Request
 */
import type { Clock, Timers } from '../../base/ports.ts'
import { decode, encode } from '../../codec/description.ts'
import { type FinalityCertificate, finalityCertificate } from '../../consensus/f3/certificate.ts'
import type { PowerTable } from '../../consensus/f3/powerTable.ts'
import { P2pError } from '../errors.ts'
import { ask } from '../framing/ask.ts'
import type { Time } from '../framing/patientStream.ts'
import type { StreamReader } from '../framing/streamReader.ts'
import { byDemerits, type PeerLinks, type PeerName, reportError } from '../peerLinks.ts'
import { CLIENT_LIMITS, MAX_CERTIFICATES, MAX_HEADER_BYTES, MAX_ITEM_BYTES } from './limits.ts'
import { certExchangeProtocol, certRequest, certResponseHeader } from './messages.ts'

/** Peers to ask, and the network's name in the protocol's. */
export interface CertClientDeps {
  readonly links: PeerLinks
  /** F3's own name of the network. */
  readonly f3Network: string
  readonly clock: Clock
  readonly timers: Timers
}

/** What is asked of a peer. */
export interface CertQuestion {
  readonly firstInstance: number
  /** Most certificates, up to 256; 0: the header alone. */
  readonly limit: number
  /** Whether the table that signs `firstInstance` is wanted. */
  readonly includePowerTable: boolean
}

/** A certificate, and its bytes as they came. */
export interface ReceivedCertificate {
  readonly certificate: FinalityCertificate
  readonly cbor: Uint8Array
}

/** What one peer answered, decoded and bounded; no signature was checked. */
export interface CertAnswer {
  /** The instance after the peer's newest certificate. */
  readonly pendingInstance: number
  /** Empty unless asked for. */
  readonly powerTable: PowerTable
  /** One after the other from the first instance asked for. */
  readonly certificates: readonly ReceivedCertificate[]
}

/** The exchange's client. */
export class CertClient {
  readonly #deps: CertClientDeps
  readonly #protocol: string
  readonly #time: Time

  constructor(deps: CertClientDeps) {
    this.#deps = deps
    this.#protocol = certExchangeProtocol(deps.f3Network)
    this.#time = { clock: deps.clock, timers: deps.timers }
  }

  /** Connected peers that speak it, the best first. */
  peers(): PeerName[] {
    const { links } = this.#deps
    return byDemerits(
      links,
      links.peers().filter((peer) => links.speaks(peer, this.#protocol)),
    )
  }

  /**
   * One question. Garbage and certificates out of order are reported; those before them are kept.
   * @throws P2pError; CodecError of a header
   */
  async request(peer: PeerName, question: CertQuestion, signal?: AbortSignal): Promise<CertAnswer> {
    const limit = Math.min(question.limit, MAX_CERTIFICATES)
    const { firstInstance, includePowerTable } = question
    const request = encode(certRequest, {
      firstInstance: BigInt(firstInstance),
      limit: BigInt(limit),
      includePowerTable,
    })
    const asked = { peer, protocol: this.#protocol, request, limits: CLIENT_LIMITS, signal }
    try {
      return await ask(this.#deps.links, this.#time, asked, async (reader) => {
        const bytes = await reader.cborItem(includePowerTable ? MAX_ITEM_BYTES : MAX_HEADER_BYTES)
        const header = decode(certResponseHeader, bytes)
        const certificates = await this.#certificates(peer, reader, firstInstance, limit)
        return { pendingInstance: header.pendingInstance, powerTable: header.powerTable, certificates }
      })
    } catch (error) {
      reportError(this.#deps.links, peer, 'certificate exchange', error)
      throw error
    }
  }

  async #certificates(
    peer: PeerName,
    reader: StreamReader,
    first: number,
    limit: number,
  ): Promise<ReceivedCertificate[]> {
    const out: ReceivedCertificate[] = []
    try {
      while (out.length < limit && !(await reader.atEnd())) {
        const cbor = await reader.cborItem(MAX_ITEM_BYTES)
        const certificate = decode(finalityCertificate, cbor)
        if (certificate.instance !== first + out.length) {
          throw new P2pError('MALFORMED', 'out of order certificates received')
        }
        out.push({ certificate, cbor })
      }
    } catch (error) {
      if (out.length === 0) throw error
      reportError(this.#deps.links, peer, 'certificate exchange', error)
    }
    return out
  }
}
