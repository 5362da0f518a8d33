/**
 * Sessions with a node that runs in another tab of the same origin, over a BroadcastChannel.
 *
 * Every script of the origin hears that channel. With a passphrase all frames are sealed with a secret that is in the
 * keystore, so that they can be neither read nor made by who does not know it, and a tab that knows it has all
 * permissions. Without one the frames are plain and a tab may only read, or what its token allows; a local chain's keys
 * are known to all anyway, so there the other tabs have all permissions.
 *
 * A frame carries a number that grows by one per session and direction; with the session's name and the leader's it is
 * bound to the seal, so that a frame cannot be sent twice, nor back, nor to another leader.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { concatBytes, fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { errorMessage, unlessThrown } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'
import { untilAborted } from '../../src/base/waiting.ts'
import { BrowserError } from './errors.ts'
import { EarlyFrames, type FrameReceiver, type FrameSession } from './frames.ts'
import { randomName } from './keys.ts'
import type { SessionRequest } from './nodeOptions.ts'
import { afterReading, type OpenFrames } from './portSessions.ts'
import { browserRandom } from './random.ts'

const NONCE_BYTES = 24

type Direction = 'ask' | 'answer'

/** What goes over the channel. `body`: JSON of {@link Inner}, sealed or not. */
type Relayed =
  | { readonly t: 'who' }
  | { readonly t: 'leader'; readonly leader: string; readonly isSealed: boolean }
  | {
      readonly t: Direction
      readonly leader: string
      readonly session: string
      readonly n: number
      readonly body: string | Uint8Array
    }

type Inner =
  | { readonly open: SessionRequest }
  | { readonly frame: string }
  /** Characters that the page has read: see PortSignal. */
  | { readonly read: number }
  | { readonly opened: true }
  | { readonly refused: string }
  | { readonly close: true }

/** Turns bodies into what only the other tab can read, where there is a secret. */
class Envelope {
  readonly isSealed: boolean
  readonly #secret: Uint8Array | undefined

  constructor(secret: Uint8Array | undefined) {
    this.#secret = secret
    this.isSealed = secret !== undefined
  }

  close(inner: Inner, bound: string): string | Uint8Array {
    const text = JSON.stringify(inner)
    if (this.#secret === undefined) return text
    const nonce = new Uint8Array(NONCE_BYTES)
    browserRandom.fill(nonce)
    return concatBytes(nonce, xchacha20poly1305(this.#secret, nonce, utf8(bound)).encrypt(utf8(text)))
  }

  /** @returns undefined for what was not made by one of us */
  open(body: string | Uint8Array, bound: string): Inner | undefined {
    // Anybody can send here: what is no JSON, or not sealed with our secret, is nothing.
    return unlessThrown(() => {
      if (this.#secret === undefined) return typeof body === 'string' ? innerOf(body) : undefined
      if (typeof body === 'string') return undefined
      const nonce = body.subarray(0, NONCE_BYTES)
      const text = fromUtf8(xchacha20poly1305(this.#secret, nonce, utf8(bound)).decrypt(body.subarray(NONCE_BYTES)))
      return innerOf(text)
    }, Error)
  }
}

/** Another script of the origin may say anything where there is no secret. */
function innerOf(text: string): Inner | undefined {
  const json: unknown = JSON.parse(text)
  if (typeof json !== 'object' || json === null) return undefined
  return 'frame' in json && typeof json.frame !== 'string' ? undefined : (json as Inner)
}

function boundText(leader: string, session: string, direction: Direction, n: number): string {
  return `petrel-tabs-1|${leader}|${session}|${direction}|${n}`
}

/** The lock that a tab holds as long as its session lives: how the leader learns of its end. */
function lockName(channel: string, session: string): string {
  return `${channel}/session/${session}`
}

/** What both sides need. */
export interface RelayDeps {
  /** Name of the channel: the database's. */
  readonly channel: string
  readonly secret: Uint8Array | undefined
  readonly log: Logger
}

interface Served {
  /** Number of the last frame that was taken, and of the last that was sent. */
  taken: number
  sent: number
  unread: number
  session: FrameSession | undefined
  readonly early: EarlyFrames
  /** Its name stays: a session that ended is never opened again. */
  hasEnded: boolean
}

/** The leader's side: serves the other tabs. @param limit - what a session may ask for at most */
export function serveTabs(
  deps: RelayDeps,
  open: OpenFrames,
  limit: (request: SessionRequest) => SessionRequest,
): () => void {
  const { channel: name, secret, log } = deps
  const channel = new BroadcastChannel(name)
  const envelope = new Envelope(secret)
  const leader = randomName()
  const sessions = new Map<string, Served>()
  const ended = new AbortController()
  const post = (message: Relayed): void => channel.postMessage(message)
  const send = (session: string, served: Served, inner: Inner): void => {
    const n = ++served.sent
    const body = envelope.close(inner, boundText(leader, session, 'answer', n))
    post({ t: 'answer', leader, session, n, body })
  }
  const drop = (session: string): void => {
    const served = sessions.get(session)
    if (served === undefined || served.hasEnded) return
    served.hasEnded = true
    served.session?.end()
    served.session = undefined
    served.early.take()
  }
  const refuse = (session: string, served: Served, reason: string): void => {
    send(session, served, { refused: reason })
    drop(session)
  }
  const start = async (session: string, served: Served, request: SessionRequest): Promise<void> => {
    const receiver: FrameReceiver = {
      frame: (text) => {
        served.unread += text.length
        send(session, served, { frame: text })
      },
      unreadBytes: () => served.unread,
      refused: (reason) => refuse(session, served, reason),
    }
    try {
      const opened = await open(limit(request), receiver)
      if (served.hasEnded) {
        opened.end()
        return
      }
      served.session = opened
      send(session, served, { opened: true })
      for (const text of served.early.take()) opened.receive(text)
      // Granted when the tab is gone.
      await navigator.locks.request(lockName(name, session), { mode: 'shared', signal: ended.signal }, () =>
        drop(session),
      )
    } catch (error) {
      if (!ended.signal.aborted) refuse(session, served, errorMessage(error))
    }
  }
  channel.onmessage = ({ data }: MessageEvent<Relayed | null | undefined>) => {
    if (typeof data !== 'object' || data === null) return
    if (data.t === 'who') post({ t: 'leader', leader, isSealed: envelope.isSealed })
    if (data.t !== 'ask' || data.leader !== leader) return
    const { session, n } = data
    const served: Served = sessions.get(session) ?? {
      taken: 0,
      sent: 0,
      unread: 0,
      session: undefined,
      early: new EarlyFrames(),
      hasEnded: false,
    }
    const inner = n === served.taken + 1 ? envelope.open(data.body, boundText(leader, session, 'ask', n)) : undefined
    if (inner === undefined) {
      log.warn('a frame from another tab was dropped: it is not from a tab of ours')
      return
    }
    served.taken = n
    if ('open' in inner && n === 1) {
      sessions.set(session, served)
      void start(session, served, inner.open)
    } else if ('frame' in inner) {
      if (served.hasEnded) send(session, served, { refused: 'the session has ended' })
      else if (served.session !== undefined) served.session.receive(inner.frame)
      else if (!served.early.add(inner.frame)) refuse(session, served, 'too much was asked before the node answers')
    } else if ('read' in inner) {
      served.unread = afterReading(served.unread, inner.read)
      served.session?.drained()
    } else if ('close' in inner) drop(session)
  }
  post({ t: 'leader', leader, isSealed: envelope.isSealed })
  return () => {
    ended.abort()
    for (const session of sessions.keys()) drop(session)
    channel.close()
  }
}

/** A tab that uses another one's node. */
export interface TabFollower {
  stop(): void
}

/** What a follower hears. */
export interface LeaderListener {
  /** There is a leader, or another one: `open` opens sessions with it. */
  leader(open: OpenFrames, isSealed: boolean): void
  /** The leader was started with a passphrase and this tab was not, or the other way round: they cannot talk. */
  mismatch(leaderIsSealed: boolean): void
}

/** Follows the leading tab. */
export function followTabs(deps: RelayDeps, listener: LeaderListener): TabFollower {
  const { channel: name, secret } = deps
  const channel = new BroadcastChannel(name)
  const envelope = new Envelope(secret)
  const stopped = new AbortController()
  const receivers = new Map<string, (data: Extract<Relayed, { t: Direction }>) => void>()
  let current: string | undefined

  const openWith =
    (leader: string): OpenFrames =>
    async (request, receiver) => {
      const session = randomName()
      const over = new AbortController()
      let sent = 0
      let taken = 0
      let isOpen = false
      const send = (inner: Inner): void => {
        if (stopped.signal.aborted) return
        const n = ++sent
        const body = envelope.close(inner, boundText(leader, session, 'ask', n))
        channel.postMessage({ t: 'ask', leader, session, n, body } satisfies Relayed)
      }
      await holdLock(lockName(name, session), AbortSignal.any([stopped.signal, over.signal]))
      await new Promise<void>((opened, refuse) => {
        receivers.set(session, ({ n, body }) => {
          const inner = n === taken + 1 ? envelope.open(body, boundText(leader, session, 'answer', n)) : undefined
          if (inner === undefined) return
          taken = n
          if ('frame' in inner) {
            receiver.frame(inner.frame)
            send({ read: inner.frame.length })
          } else if ('opened' in inner) {
            isOpen = true
            opened()
          } else if ('refused' in inner) {
            receivers.delete(session)
            over.abort()
            if (isOpen) receiver.refused(inner.refused)
            else refuse(new BrowserError('ACCESS_REFUSED', inner.refused))
          }
        })
        send({ open: request })
      })
      return {
        receive: (text) => send({ frame: text }),
        // The leader counts by what this tab has taken.
        drained: () => undefined,
        end: () => {
          receivers.delete(session)
          send({ close: true })
          over.abort()
        },
      }
    }

  channel.onmessage = ({ data }: MessageEvent<Relayed | null | undefined>) => {
    if (typeof data !== 'object' || data === null) return
    if (data.t === 'leader') {
      if (data.leader === current) return
      current = data.leader
      if (data.isSealed === envelope.isSealed) listener.leader(openWith(data.leader), data.isSealed)
      else listener.mismatch(data.isSealed)
    } else if (data.t === 'answer') receivers.get(data.session)?.(data)
  }
  channel.postMessage({ t: 'who' } satisfies Relayed)
  return {
    stop: () => {
      stopped.abort()
      channel.close()
    },
  }
}

/** Takes a lock that nobody else wants, and holds it until `until` fires. */
async function holdLock(name: string, until: AbortSignal): Promise<void> {
  await new Promise<void>((held) => {
    void navigator.locks.request(name, async () => {
      held()
      await untilAborted(until)
    })
  })
}
