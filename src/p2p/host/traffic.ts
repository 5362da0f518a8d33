/**
 * How much goes in and out: in all, by protocol, by peer. It counts where libp2p has its metrics: bytes of streams as the
 * protocols see them.
 * @see go-libp2p core/metrics/bandwidth.go; go-flow-metrics meter.go, sweeper.go (rate: mean of the last seconds)
 */
import type { Metrics, MultiaddrConnection, Stream } from '@libp2p/interface'
import type { Clock } from '../../base/ports.ts'
import type { PeerName } from '../peerLinks.ts'
import { MAX_METERED_NAMES } from './hostLimits.ts'

/** Bytes, and bytes per second. */
export interface TrafficStats {
  readonly totalIn: number
  readonly totalOut: number
  readonly rateIn: number
  readonly rateOut: number
}

/** Weight of the last second in a rate, as go-flow-metrics has it. */
const ALPHA = 0.25

class Meter {
  total = 0
  #rate = 0
  #second: number
  #inSecond = 0

  constructor(second: number) {
    this.#second = second
  }

  add(bytes: number, second: number): void {
    if (second !== this.#second) this.#turn(second)
    this.total += bytes
    this.#inSecond += bytes
  }

  rate(second: number): number {
    if (second !== this.#second) this.#turn(second)
    return this.#rate
  }

  #turn(second: number): void {
    this.#rate += ALPHA * (this.#inSecond - this.#rate)
    this.#rate *= (1 - ALPHA) ** (second - this.#second - 1)
    if (this.#rate < 1) this.#rate = 0
    this.#inSecond = 0
    this.#second = second
  }
}

class Meters {
  readonly #in: Meter
  readonly #out: Meter

  constructor(second: number) {
    this.#in = new Meter(second)
    this.#out = new Meter(second)
  }

  received(bytes: number, second: number): void {
    this.#in.add(bytes, second)
  }

  sent(bytes: number, second: number): void {
    this.#out.add(bytes, second)
  }

  stats(second: number): TrafficStats {
    return {
      totalIn: this.#in.total,
      totalOut: this.#out.total,
      rateIn: this.#in.rate(second),
      rateOut: this.#out.rate(second),
    }
  }
}

class MeterTable {
  readonly #meters = new Map<string, Meters>()

  at(name: string, second: number): Meters {
    let meters = this.#meters.get(name)
    if (meters === undefined) meters = new Meters(second)
    else this.#meters.delete(name)
    this.#meters.set(name, meters)
    if (this.#meters.size > MAX_METERED_NAMES) {
      const oldest = this.#meters.keys().next()
      if (oldest.done !== true) this.#meters.delete(oldest.value)
    }
    return meters
  }

  stats(second: number): Map<string, TrafficStats> {
    const out = new Map<string, TrafficStats>()
    for (const [name, meters] of this.#meters) out.set(name, meters.stats(second))
    return out
  }
}

/** What is wrapped: every message stream of libp2p takes arriving bytes by `onData`. */
interface Counted {
  send(data: { readonly byteLength: number }): boolean
  onData?(data: { readonly byteLength: number }): void
}

function count(stream: Counted, received: (bytes: number) => void, sent: (bytes: number) => void): void {
  const send = stream.send.bind(stream)
  stream.send = (data) => {
    sent(data.byteLength)
    return send(data)
  }
  // Listening to its messages instead would start the flow before the reader is there.
  const onData = stream.onData?.bind(stream)
  if (onData === undefined) return
  stream.onData = (data) => {
    received(data.byteLength)
    onData(data)
  }
}

const NOTHING = (): void => undefined
const NO_METRIC = {
  update: NOTHING,
  increment: NOTHING,
  decrement: NOTHING,
  reset: NOTHING,
  observe: NOTHING,
  timer: () => NOTHING,
}
const NO_REGISTRATION = (): typeof NO_METRIC => NO_METRIC

/** The counters of a host; to libp2p, its metrics (all others lead nowhere). */
export class Traffic implements Metrics {
  readonly #clock: Clock
  readonly #ownerOf: (stream: Stream) => PeerName | undefined
  readonly #all: Meters
  readonly #protocols = new MeterTable()
  readonly #peers = new MeterTable()

  readonly registerMetric: Metrics['registerMetric'] = NO_REGISTRATION
  readonly registerMetricGroup: Metrics['registerMetricGroup'] = NO_REGISTRATION
  readonly registerCounter: Metrics['registerCounter'] = NO_REGISTRATION
  readonly registerCounterGroup: Metrics['registerCounterGroup'] = NO_REGISTRATION
  readonly registerHistogram: Metrics['registerHistogram'] = NO_REGISTRATION
  readonly registerHistogramGroup: Metrics['registerHistogramGroup'] = NO_REGISTRATION
  readonly registerSummary: Metrics['registerSummary'] = NO_REGISTRATION
  readonly registerSummaryGroup: Metrics['registerSummaryGroup'] = NO_REGISTRATION

  /** @param ownerOf - whose stream it is */
  constructor(clock: Clock, ownerOf: (stream: Stream) => PeerName | undefined) {
    this.#clock = clock
    this.#ownerOf = ownerOf
    this.#all = new Meters(this.#second())
  }

  traceFunction<F>(_name: string, run: F): F {
    return run
  }

  createTrace(): undefined {
    return undefined
  }

  /** Connections are counted by their streams: WebRTC has no bytes below them. */
  trackMultiaddrConnection(_connection: MultiaddrConnection): void {}

  trackProtocolStream(stream: Stream): void {
    const { protocol } = stream
    let peer: PeerName | undefined
    const counters = (second: number): Meters[] => {
      peer ??= this.#ownerOf(stream)
      const counters = [this.#all, this.#protocols.at(protocol, second)]
      if (peer !== undefined) counters.push(this.#peers.at(peer, second))
      return counters
    }
    const received = (bytes: number): void => {
      const second = this.#second()
      for (const meters of counters(second)) meters.received(bytes, second)
    }
    // What came together with the agreement on the protocol.
    if (stream.readBufferLength > 0) received(stream.readBufferLength)
    count(stream as unknown as Counted, received, (bytes) => {
      const second = this.#second()
      for (const meters of counters(second)) meters.sent(bytes, second)
    })
  }

  totals(): TrafficStats {
    return this.#all.stats(this.#second())
  }

  byProtocol(): Map<string, TrafficStats> {
    return this.#protocols.stats(this.#second())
  }

  byPeer(): Map<PeerName, TrafficStats> {
    return this.#peers.stats(this.#second())
  }

  #second(): number {
    return Math.floor(this.#clock.monotonicMs() / 1000)
  }
}
