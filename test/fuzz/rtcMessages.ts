/**
 * What a WebRTC peer makes the page tell the worker: channels with any label, protocol and data, events in any order, and answers. A line
 * is a message: `d name label protocol` a new channel of the connection, `m name data`, `e name event readyState taken` of a channel,
 * `c event state` of the connection, `i candidate`, `a number text` and `x number text` an answer and a refusal.
 */
import { installWebRtc } from '../../platform/browser/webRtcWorker.ts'
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import type { FuzzTarget } from './fuzzTarget.ts'

const NAMES = ['RTCPeerConnection', 'RTCSessionDescription', 'RTCIceCandidate'] as const
/** What a worker holds of a channel that nobody listens to: as in webRtcWorker.ts, with what an event takes. */
const MOST_WAITING = 1024 * 1024

type Channel = EventTarget & { onmessage: unknown; bufferedAmount: number; readyState: string; close(): void }
type Connection = EventTarget & {
  createDataChannel(label: string): Channel
  createOffer(): Promise<unknown>
  close(): void
}

function stateOf(connectionState = 'connected'): object {
  const other = { iceConnectionState: 'connected', iceGatheringState: 'complete', signalingState: 'stable' }
  return { connectionState, ...other, localDescription: null, remoteDescription: null }
}

function messageOf(line: string): object {
  const [kind = '', name = '', ...rest] = line.split(' ')
  const [first = '', second = '', third = ''] = rest
  const state = { readyState: second === '' ? 'open' : second, buffered: 0, taken: Number(third) || 0 }
  if (kind === 'd')
    return { of: 1, event: 'datachannel', state: stateOf(), channel: { name, label: first, protocol: second } }
  if (kind === 'm')
    return { channel: name, event: 'message', state: { ...state, readyState: 'open' }, data: rest.join(' ') }
  if (kind === 'M')
    return { channel: name, event: 'message', state, data: new ArrayBuffer(Math.abs(Number(first)) % 1e6 || 0) }
  if (kind === 'e') return { channel: name, event: first, state }
  if (kind === 'i')
    return {
      of: 1,
      event: 'icecandidate',
      state: stateOf(),
      candidate: name === '' ? null : { candidate: rest.join(' '), sdpMid: name },
    }
  if (kind === 'a') return { answer: Number(name), result: { type: first, sdp: second }, state: stateOf() }
  if (kind === 'x') return { answer: Number(name), error: rest.join(' ') }
  return { of: 1, event: name, state: stateOf(first) }
}

let way = ''

/** Nothing is thrown in the worker; what nobody listens to is bounded; a channel that ended is told to have ended once. */
export const rtcMessages: FuzzTarget = {
  seeds: () => [
    utf8('d p0 a b\ne p0 open open 0\nm p0 hello\nm w2 x\ne p0 bufferedamountlow open 9\ne p0 close closed 1'),
    utf8(
      'c connectionstatechange failed\ni 0 candidate:1\ni\na 3 offer v=0\nx 3 no\nd p0 a b\nd p0 a b\ne p0 error open 1',
    ),
    utf8(`d p1 x y\n${'M p1 900000\n'.repeat(4)}e p1 closing closing 0\nc connectionstatechange closed`),
  ],
  run: async (input) => {
    const before = NAMES.map((name) => (globalThis as Record<string, unknown>)[name])
    const posted: object[] = []
    const port = {
      onmessage: null as ((event: { data: object }) => void) | null,
      postMessage: (one: object) => void posted.push(one),
    }
    installWebRtc(port as unknown as Parameters<typeof installWebRtc>[0])
    const Made = (globalThis as unknown as Record<string, new () => Connection>)
      .RTCPeerConnection as new () => Connection
    for (const [i, name] of NAMES.entries()) Object.assign(globalThis, { [name]: before[i] })
    const connection = new Made()
    const ends = new Map<EventTarget, number>()
    const opened: Channel[] = []
    const watch = (channel: Channel): void => {
      opened.push(channel)
      channel.addEventListener('close', () => void ends.set(channel, (ends.get(channel) ?? 0) + 1))
    }
    connection.addEventListener('datachannel', (event) => watch((event as unknown as { channel: Channel }).channel))
    watch(connection.createDataChannel('ours'))
    const offer = connection.createOffer().then(
      () => 'offered',
      () => 'refused',
    )
    const lines = fromUtf8(input).split('\n').slice(0, 200)
    for (const line of lines) port.onmessage?.({ data: messageOf(line) })
    let waiting = 0
    for (const channel of opened) {
      const mine = { bytes: 0 }
      channel.onmessage = ({ data }: { data: string | ArrayBuffer }) => {
        mine.bytes += typeof data === 'string' ? data.length : data.byteLength
      }
      if (mine.bytes > MOST_WAITING) throw new Error(`${mine.bytes} bytes waited for a listener`)
      waiting += mine.bytes
      channel.close()
    }
    connection.close()
    port.onmessage?.({ data: { answer: 3, error: 'closed' } })
    for (const line of lines.slice(0, 20)) port.onmessage?.({ data: messageOf(line) })
    await Promise.race([offer, new Promise((resolve) => setImmediate(resolve))])
    way = `${opened.length > 3 ? 'many' : opened.length} ${32 - Math.clz32(waiting)} ${ends.size} ${Math.min(9, posted.length)}`
  },
  way: () => way,
}
