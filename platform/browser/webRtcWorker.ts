/** The worker's side of {@link ./webRtcMessages.ts}: what libp2p's transports use of WebRTC's classes. */
import { BrowserError } from './errors.ts'
import type {
  FromRtcPage,
  PlainCandidate,
  PlainDescription,
  RtcCall,
  RtcChannelState,
  RtcState,
  ToRtcPage,
} from './webRtcMessages.ts'

/** An event target whose `on…` properties are called too, as WebRTC's own. */
class Target extends EventTarget {
  protected tell(event: Event): void {
    const handler = (this as unknown as Record<string, unknown>)[`on${event.type}`]
    if (typeof handler === 'function') (handler as (event: Event) => void).call(this, event)
    this.dispatchEvent(event)
  }
}

/** The line to the page. */
class RtcLine {
  readonly #port: MessagePort
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  readonly connections = new Map<number, RemoteConnection>()
  readonly channels = new Map<string, RemoteChannel>()
  #next = 1

  constructor(port: MessagePort) {
    this.#port = port
    port.onmessage = ({ data }: MessageEvent<FromRtcPage>) => this.#received(data)
  }

  number(): number {
    return this.#next++
  }

  post(message: ToRtcPage, transfer: Transferable[] = []): void {
    this.#port.postMessage(message, transfer)
  }

  call(ask: RtcCall): Promise<unknown> {
    const call = this.number()
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject })
      this.post({ call, ask })
      this.#asked.set(call, 'connection' in ask ? ask.connection : 0)
    })
  }

  readonly #asked = new Map<number, number>()

  #received(message: FromRtcPage): void {
    if ('answer' in message) {
      const { answer, result, error, state } = message
      const connection = this.connections.get(this.#asked.get(answer) ?? 0)
      this.#asked.delete(answer)
      if (state !== undefined) connection?.take(state)
      const waiting = this.#waiting.get(answer)
      this.#waiting.delete(answer)
      if (error === undefined) waiting?.resolve(result)
      else waiting?.reject(new BrowserError('NOT_SUPPORTED', `WebRTC: ${error}`))
    } else if ('of' in message) this.connections.get(message.of)?.received(message)
    else this.channels.get(message.channel)?.received(message)
  }
}

class CandidateEvent extends Event {
  readonly candidate: RemoteCandidate | null

  constructor(candidate: RemoteCandidate | null) {
    super('icecandidate')
    this.candidate = candidate
  }
}

class ChannelEvent extends Event {
  readonly channel: RemoteChannel

  constructor(channel: RemoteChannel) {
    super('datachannel')
    this.channel = channel
  }
}

class ErrorOfChannel extends Event {
  readonly error = new BrowserError('NOT_SUPPORTED', 'WebRTC: the channel failed')
}

class RemoteCandidate {
  readonly candidate: string
  readonly sdpMid: string | null
  readonly sdpMLineIndex: number | null
  readonly usernameFragment: string | null

  constructor(init: PlainCandidate) {
    this.candidate = init.candidate ?? ''
    this.sdpMid = init.sdpMid ?? null
    this.sdpMLineIndex = init.sdpMLineIndex ?? null
    this.usernameFragment = init.usernameFragment ?? null
  }

  toJSON(): PlainCandidate {
    const { candidate, sdpMid, sdpMLineIndex, usernameFragment } = this
    return { candidate, sdpMid, sdpMLineIndex, usernameFragment }
  }
}

class RemoteDescription {
  readonly type: string
  readonly sdp: string

  constructor({ type, sdp }: PlainDescription) {
    this.type = type
    this.sdp = sdp ?? ''
  }

  toJSON(): PlainDescription {
    return { type: this.type, sdp: this.sdp }
  }
}

/** What may wait for somebody to listen, bytes of one channel: libp2p listens in the same turn. */
const MAX_EARLY_BYTES = 1024 * 1024
/** An event beside its data, about. */
const EVENT_BYTES = 256

/** A data channel. */
class RemoteChannel extends Target {
  readonly id: string
  readonly label: string
  readonly protocol: string
  binaryType = 'arraybuffer'
  bufferedAmountLowThreshold = 0
  readonly #line: RtcLine
  readonly #of: Set<RemoteChannel>
  #state: RtcChannelState = { readyState: 'connecting', buffered: 0, taken: 0 }
  #sent = 0
  /** Messages that came before anybody listened, and their bytes. */
  readonly #early: MessageEvent[] = []
  #earlyBytes = 0
  #onmessage: ((event: MessageEvent) => void) | null = null

  /** @param of - the channels of its connection, as long as they live */
  constructor(line: RtcLine, of: Set<RemoteChannel>, name: string, label: string, protocol: string) {
    super()
    this.#line = line
    this.#of = of
    of.add(this)
    this.id = name
    this.label = label
    this.protocol = protocol
    line.channels.set(name, this)
  }

  get readyState(): string {
    return this.#state.readyState
  }

  get bufferedAmount(): number {
    return this.#state.buffered + this.#sent - this.#state.taken
  }

  get onmessage(): ((event: MessageEvent) => void) | null {
    return this.#onmessage
  }

  set onmessage(listener: ((event: MessageEvent) => void) | null) {
    this.#onmessage = listener
    if (listener === null) return
    this.#earlyBytes = 0
    for (const event of this.#early.splice(0)) listener.call(this, event)
  }

  send(data: string | ArrayBuffer | ArrayBufferView): void {
    if (this.readyState !== 'open') throw new DOMException('the channel is not open', 'InvalidStateError')
    if (typeof data === 'string') {
      this.#sent += data.length
      this.#line.post({ send: this.id, data })
      return
    }
    // A copy: the caller goes on with its buffer.
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
      : new Uint8Array(data).slice()
    this.#sent += bytes.length
    this.#line.post({ send: this.id, data: bytes.buffer }, [bytes.buffer])
  }

  close(): void {
    if (this.readyState === 'closed' || this.readyState === 'closing') return
    this.#state = { ...this.#state, readyState: 'closing' }
    this.#line.post({ closeChannel: this.id })
  }

  received({ event, state, data }: Extract<FromRtcPage, { channel: string }>): void {
    const before = this.bufferedAmount
    const closing = this.readyState === 'closing' && state.readyState !== 'closed'
    this.#state = closing ? { ...state, readyState: 'closing' } : state
    if (before > this.bufferedAmountLowThreshold && this.bufferedAmount <= this.bufferedAmountLowThreshold) {
      this.tell(new Event('bufferedamountlow'))
    }
    if (data !== undefined) this.#message(data)
    else if (event === 'error') this.tell(new ErrorOfChannel('error'))
    else if (event !== 'bufferedamountlow' && event !== 'taken') this.tell(new Event(event))
    if (event === 'close') this.#forget()
  }

  #forget(): void {
    this.#early.length = 0
    this.#line.channels.delete(this.id)
    this.#of.delete(this)
  }

  /** With its connection. */
  lost(): void {
    if (this.readyState === 'closed') return
    this.#state = { ...this.#state, readyState: 'closed' }
    this.#forget()
    this.tell(new Event('close'))
  }

  #message(data: string | ArrayBuffer): void {
    const event = new MessageEvent('message', { data })
    if (this.#onmessage !== null) this.#onmessage.call(this, event)
    else {
      this.#earlyBytes += EVENT_BYTES + (typeof data === 'string' ? data.length : data.byteLength)
      // A peer that goes on where nobody listens.
      if (this.#earlyBytes > MAX_EARLY_BYTES) return this.close()
      this.#early.push(event)
    }
    this.dispatchEvent(event)
  }
}

/** A connection that the page holds. */
class RemoteConnection extends Target {
  readonly #line: RtcLine
  readonly #number: number
  readonly #channels = new Set<RemoteChannel>()
  #state: RtcState = {
    connectionState: 'new',
    iceConnectionState: 'new',
    iceGatheringState: 'new',
    signalingState: 'stable',
    localDescription: null,
    remoteDescription: null,
  }

  constructor(line: RtcLine, configuration: Readonly<Record<string, unknown>>) {
    super()
    this.#line = line
    this.#number = line.number()
    line.connections.set(this.#number, this)
    const { certificates = [], ...rest } = configuration
    const tokens = (certificates as readonly RemoteCertificate[]).map(({ token }) => token)
    line.post({ open: this.#number, configuration: rest, certificates: tokens })
  }

  get connectionState(): string {
    return this.#state.connectionState
  }
  get iceConnectionState(): string {
    return this.#state.iceConnectionState
  }
  get iceGatheringState(): string {
    return this.#state.iceGatheringState
  }
  get signalingState(): string {
    return this.#state.signalingState
  }
  get localDescription(): RemoteDescription | null {
    return this.#state.localDescription === null ? null : new RemoteDescription(this.#state.localDescription)
  }
  get remoteDescription(): RemoteDescription | null {
    return this.#state.remoteDescription === null ? null : new RemoteDescription(this.#state.remoteDescription)
  }

  createDataChannel(label: string, init: { readonly protocol?: string } = {}): RemoteChannel {
    const name = `w${this.#line.number()}`
    const channel = new RemoteChannel(this.#line, this.#channels, name, label, init.protocol ?? '')
    this.#line.post({ channel: name, of: this.#number, label, init })
    return channel
  }

  async createOffer(): Promise<RemoteDescription> {
    const offer = await this.#line.call({ do: 'createOffer', connection: this.#number })
    return new RemoteDescription(offer as PlainDescription)
  }

  async createAnswer(): Promise<RemoteDescription> {
    const answer = await this.#line.call({ do: 'createAnswer', connection: this.#number })
    return new RemoteDescription(answer as PlainDescription)
  }

  async setLocalDescription(given?: PlainDescription): Promise<void> {
    const description = given === undefined ? {} : { description: plainDescription(given) }
    await this.#line.call({ do: 'setLocalDescription', connection: this.#number, ...description })
  }

  async setRemoteDescription(given: PlainDescription): Promise<void> {
    const description = plainDescription(given)
    await this.#line.call({ do: 'setRemoteDescription', connection: this.#number, description })
  }

  async addIceCandidate(given?: PlainCandidate | null): Promise<void> {
    const candidate = given === undefined || given === null ? {} : { candidate: new RemoteCandidate(given).toJSON() }
    await this.#line.call({ do: 'addIceCandidate', connection: this.#number, ...candidate })
  }

  close(): void {
    if (this.connectionState === 'closed') return
    this.#state = { ...this.#state, connectionState: 'closed', iceConnectionState: 'closed', signalingState: 'closed' }
    this.#line.connections.delete(this.#number)
    this.#line.post({ close: this.#number })
    for (const channel of this.#channels) channel.lost()
    // The real one tells nothing of its own closing; libp2p wants to know.
    this.tell(new Event('connectionstatechange'))
  }

  take(state: RtcState): void {
    this.#state = state
  }

  received({ event, state, candidate, channel }: Extract<FromRtcPage, { of: number }>): void {
    this.#state = state
    if (event === 'icecandidate') {
      this.tell(
        new CandidateEvent(candidate === null || candidate === undefined ? null : new RemoteCandidate(candidate)),
      )
    } else if (event === 'datachannel' && channel !== undefined) {
      const made = new RemoteChannel(this.#line, this.#channels, channel.name, channel.label, channel.protocol)
      this.tell(new ChannelEvent(made))
    } else this.tell(new Event(event))
  }
}

interface RemoteCertificate {
  readonly token: number
}

function plainDescription({ type, sdp }: PlainDescription): PlainDescription {
  return { type, ...(sdp === undefined ? {} : { sdp }) }
}

/** Puts the classes where libp2p's transports look for them. Before those are loaded. */
export function installWebRtc(port: MessagePort): void {
  const line = new RtcLine(port)
  const connection = class extends RemoteConnection {
    constructor(configuration: Readonly<Record<string, unknown>> = {}) {
      super(line, configuration)
    }

    static async generateCertificate(algorithm: object): Promise<RemoteCertificate> {
      return { token: (await line.call({ do: 'generateCertificate', algorithm })) as number }
    }
  }
  Object.assign(globalThis, {
    RTCPeerConnection: connection,
    RTCSessionDescription: RemoteDescription,
    RTCIceCandidate: RemoteCandidate,
  })
}
