/**
 * WebRTC for the worker: browsers give `RTCPeerConnection` to pages alone, so the page holds the connections and the
 * worker's stand-ins tell it what to do. What crosses is WebRTC's own traffic, sealed by Noise in the worker: the page's
 * side sees no more than any relay would.
 */

/** A session description or a candidate as plain data. */
export type PlainDescription = { readonly type: string; readonly sdp?: string }

/** A candidate of ICE as plain data, in the names of `RTCIceCandidateInit`. */
export type PlainCandidate = {
  readonly candidate?: string
  readonly sdpMid?: string | null
  readonly sdpMLineIndex?: number | null
  readonly usernameFragment?: string | null
}

/** What is asked for with an answer. */
export type RtcCall =
  | { readonly do: 'generateCertificate'; readonly algorithm: object }
  | { readonly do: 'createOffer'; readonly connection: number }
  | { readonly do: 'createAnswer'; readonly connection: number }
  | { readonly do: 'setLocalDescription'; readonly connection: number; readonly description?: PlainDescription }
  | { readonly do: 'setRemoteDescription'; readonly connection: number; readonly description: PlainDescription }
  | { readonly do: 'addIceCandidate'; readonly connection: number; readonly candidate?: PlainCandidate }

/** From the worker. Numbers of connections are the worker's; channels are named `w…` by it and `p…` by the page. */
export type ToRtcPage =
  | { readonly call: number; readonly ask: RtcCall }
  | {
      readonly open: number
      readonly configuration: Readonly<Record<string, unknown>>
      /** Of {@link RtcCall} `generateCertificate`. */
      readonly certificates: readonly number[]
    }
  | { readonly channel: string; readonly of: number; readonly label: string; readonly init: object }
  | { readonly send: string; readonly data: string | ArrayBuffer }
  | { readonly closeChannel: string }
  | { readonly close: number }

/** State of a connection, told with each of its events and answers. */
export interface RtcState {
  readonly connectionState: string
  readonly iceConnectionState: string
  readonly iceGatheringState: string
  readonly signalingState: string
  readonly localDescription: PlainDescription | null
  readonly remoteDescription: PlainDescription | null
}

/** State of a channel. */
export interface RtcChannelState {
  readonly readyState: string
  /** Bytes that wait in the page. */
  readonly buffered: number
  /** Bytes that the page has taken in all. */
  readonly taken: number
}

/** From the page. */
export type FromRtcPage =
  | { readonly answer: number; readonly result?: unknown; readonly error?: string; readonly state?: RtcState }
  | {
      readonly of: number
      readonly event: string
      readonly state: RtcState
      readonly candidate?: PlainCandidate | null
      readonly channel?: { readonly name: string; readonly label: string; readonly protocol: string }
    }
  | {
      readonly channel: string
      readonly event: string
      readonly state: RtcChannelState
      readonly data?: string | ArrayBuffer
    }
