/** The page's side of {@link ./webRtcMessages.ts}: real connections, held for the worker. */
import { errorMessage } from '../../src/base/errors.ts'
import type { FromRtcPage, PlainCandidate, PlainDescription, RtcCall, RtcState, ToRtcPage } from './webRtcMessages.ts'

const CONNECTION_EVENTS = [
  'connectionstatechange',
  'iceconnectionstatechange',
  'icegatheringstatechange',
  'signalingstatechange',
] as const
const CHANNEL_EVENTS = ['open', 'close', 'closing', 'error', 'bufferedamountlow'] as const

function plain(description: RTCSessionDescription | null): PlainDescription | null {
  return description === null ? null : { type: description.type, sdp: description.sdp }
}

function stateOf(connection: RTCPeerConnection): RtcState {
  return {
    connectionState: connection.connectionState,
    iceConnectionState: connection.iceConnectionState,
    iceGatheringState: connection.iceGatheringState,
    signalingState: connection.signalingState,
    localDescription: plain(connection.localDescription),
    remoteDescription: plain(connection.remoteDescription),
  }
}

/** Serves the worker at the other end of `port`. @returns what closes all connections */
export function serveWebRtc(port: MessagePort): () => void {
  const connections = new Map<number, RTCPeerConnection>()
  /** Until the connection that they were made for opens. */
  const certificates = new Map<number, RTCCertificate>()
  let nextCertificate = 0
  const channels = new Map<string, { readonly channel: RTCDataChannel; readonly of: number; taken: number }>()
  let nextChannel = 0
  const post = (message: FromRtcPage, transfer: Transferable[] = []): void => port.postMessage(message, transfer)

  const watchChannel = (name: string, channel: RTCDataChannel, of: number): void => {
    const held = { channel, of, taken: 0 }
    channels.set(name, held)
    channel.binaryType = 'arraybuffer'
    const tell = (event: string, data?: string | ArrayBuffer): void => {
      const state = { readyState: channel.readyState, buffered: channel.bufferedAmount, taken: held.taken }
      if (data === undefined) post({ channel: name, event, state })
      else post({ channel: name, event, state, data }, typeof data === 'string' ? [] : [data])
    }
    for (const event of CHANNEL_EVENTS) {
      channel.addEventListener(event, () => {
        tell(event)
        if (event === 'close') channels.delete(name)
      })
    }
    channel.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => tell('message', data))
    if (channel.readyState === 'open') tell('open')
  }

  const open = (number: number, configuration: object, tokens: readonly number[]): void => {
    const own = tokens.map((token) => certificates.get(token)).filter((certificate) => certificate !== undefined)
    for (const token of tokens) certificates.delete(token)
    const connection = new RTCPeerConnection({ ...configuration, ...(own.length > 0 ? { certificates: own } : {}) })
    connections.set(number, connection)
    const tell = (event: string, more: object = {}): void =>
      post({ of: number, event, state: stateOf(connection), ...more })
    for (const event of CONNECTION_EVENTS) connection.addEventListener(event, () => tell(event))
    connection.addEventListener('icecandidate', ({ candidate }) =>
      tell('icecandidate', { candidate: candidate === null ? null : (candidate.toJSON() as PlainCandidate) }),
    )
    connection.addEventListener('datachannel', ({ channel }) => {
      const name = `p${nextChannel++}`
      tell('datachannel', { channel: { name, label: channel.label, protocol: channel.protocol } })
      watchChannel(name, channel, number)
    })
  }

  const carryOut = async (ask: RtcCall): Promise<unknown> => {
    if (ask.do === 'generateCertificate') {
      certificates.set(
        nextCertificate,
        await RTCPeerConnection.generateCertificate(ask.algorithm as AlgorithmIdentifier),
      )
      return nextCertificate++
    }
    const connection = connections.get(ask.connection)
    if (connection === undefined) throw new DOMException('the connection is closed', 'InvalidStateError')
    switch (ask.do) {
      case 'createOffer': {
        const { type, sdp } = await connection.createOffer()
        return { type, sdp }
      }
      case 'createAnswer': {
        const { type, sdp } = await connection.createAnswer()
        return { type, sdp }
      }
      case 'setLocalDescription':
        await connection.setLocalDescription(ask.description as RTCLocalSessionDescriptionInit | undefined)
        return undefined
      case 'setRemoteDescription':
        await connection.setRemoteDescription(ask.description as RTCSessionDescriptionInit)
        return undefined
      case 'addIceCandidate':
        await connection.addIceCandidate(ask.candidate as RTCIceCandidateInit | undefined)
        return undefined
    }
  }

  const call = async (number: number, ask: RtcCall): Promise<void> => {
    const state = (): { state?: RtcState } => {
      const connection = 'connection' in ask ? connections.get(ask.connection) : undefined
      return connection === undefined ? {} : { state: stateOf(connection) }
    }
    try {
      const result = await carryOut(ask)
      post({ answer: number, result, ...state() })
    } catch (error) {
      post({ answer: number, error: errorMessage(error), ...state() })
    }
  }

  const send = (name: string, data: string | ArrayBuffer): void => {
    const held = channels.get(name)
    if (held === undefined) return
    held.taken += typeof data === 'string' ? data.length : data.byteLength
    try {
      if (typeof data === 'string') held.channel.send(data)
      else held.channel.send(data)
    } catch (error) {
      if (!(error instanceof DOMException)) throw error
      // Closed meanwhile, or its buffer is full: the worker sees the channel end.
      held.channel.close()
    }
    const { readyState, bufferedAmount } = held.channel
    post({ channel: name, event: 'taken', state: { readyState, buffered: bufferedAmount, taken: held.taken } })
  }

  const close = (number: number): void => {
    connections.get(number)?.close()
    connections.delete(number)
    // Of its own closing a connection need not tell its channels.
    for (const [name, { of }] of channels) if (of === number) channels.delete(name)
  }

  port.onmessage = ({ data }: MessageEvent<ToRtcPage>) => {
    if ('call' in data) void call(data.call, data.ask)
    else if ('open' in data) open(data.open, data.configuration, data.certificates)
    else if ('send' in data) send(data.send, data.data)
    else if ('closeChannel' in data) channels.get(data.closeChannel)?.channel.close()
    else if ('close' in data) close(data.close)
    else {
      const connection = connections.get(data.of)
      if (connection !== undefined)
        watchChannel(data.channel, connection.createDataChannel(data.label, data.init), data.of)
    }
  }
  return () => {
    for (const number of [...connections.keys()]) close(number)
    port.close()
  }
}
