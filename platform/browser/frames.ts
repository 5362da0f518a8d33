/** One client's JSON-RPC session with the node of this worker. */
import {
  MAX_ALL_UNREAD_BYTES,
  MAX_ANONYMOUS_REQUEST_BYTES,
  MAX_REQUEST_BYTES,
  MAX_UNREAD_BYTES,
} from '../../src/base/bounds.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import type { PetrelNode } from '../../src/node/node.ts'
import { RPC_ERROR_NUMBERS } from '../../src/rpc/errors.ts'
import { PERMISSIONS } from '../../src/rpc/permission.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { BrowserError } from './errors.ts'
import type { SessionAccess, SessionRequest } from './nodeOptions.ts'

/** The client's side of a session. */
export interface FrameReceiver {
  frame(text: string): void
  /** Bytes of frames that it has not read yet. */
  unreadBytes(): number
  /** The node has ended the session; no frame follows. */
  refused(reason: string): void
}

/** An open session. */
export interface FrameSession {
  receive(text: string): void
  /** The client has read some of what it was sent. */
  drained(): void
  end(): void
}

/** Frames of a client that came before its session was open: what they may hold is bounded, as on an open one. */
export class EarlyFrames {
  #texts: string[] = []
  #length = 0

  /** @returns false: it is more than is held for a client */
  add(text: string): boolean {
    this.#length += text.length
    if (this.#length > MAX_UNREAD_BYTES) return false
    this.#texts.push(text)
    return true
  }

  /** All of them, in their order; none is left. */
  take(): readonly string[] {
    const texts = this.#texts
    this.#texts = []
    this.#length = 0
    return texts
  }
}

/** What the answers need besides the node. */
export interface SessionHost {
  readonly node: Pick<PetrelNode, 'engine' | 'handler'>
  /** Resolves when all that was written is in the database; undefined: it is. Rejects where it cannot be written now. */
  readonly settle: () => Promise<void> | undefined
}

const UNREAD = 'the client does not read its answers'
const ALL: ReadonlySet<string> = new Set(PERMISSIONS)

/** What the access allows now; undefined: its token is void. */
function permissionsOf(host: SessionHost, access: SessionAccess): ReadonlySet<string> | undefined {
  if (access.as === 'page') return ALL
  const header = (name: string): string | undefined =>
    name === 'authorization' && access.token !== '' ? `Bearer ${access.token}` : undefined
  return host.node.handler.permissions({ url: '', header })
}

/** What is said in place of a frame that rests on what cannot be written; undefined: it is an event, and waits. */
function unwritten(text: string, error: unknown): string | undefined {
  const frame = parseJson(text) as { readonly [field: string]: Json }
  if ('method' in frame) return undefined
  if ('error' in frame) return text
  const { id = null, jsonrpc = '2.0' } = frame
  return stringifyJson({ id, jsonrpc, error: { code: RPC_ERROR_NUMBERS.FAILED, message: errorMessage(error) } })
}

/**
 * Opens a session. Frames leave in order, and none before what the node wrote until then is in the database: nobody is
 * told of a message or a head that an end of the tab would take back. Where it cannot be written calls are refused, and events wait.
 * @throws BrowserError `ACCESS_REFUSED` for a token that is not valid
 */
export function openSession(host: SessionHost, request: SessionRequest, receiver: FrameReceiver): FrameSession {
  const permissions = (): ReadonlySet<string> | undefined => permissionsOf(host, request.access)
  if (permissions() === undefined) throw new BrowserError('ACCESS_REFUSED', 'the node does not accept the token')
  let held: string[] = []
  let heldLength = 0
  let isHeld = false
  /** Whether the client is to read before more is taken, and characters that it has sent meanwhile. */
  let isStopped = false
  let waiting = 0
  let ended = false
  const hold = (text: string): void => {
    held.push(text)
    heldLength += text.length
  }
  /** Tells what is held when all that was written until now is in the database; what comes meanwhile may rest on later writes. */
  const tell = (): void => {
    const settled = host.settle()
    if (settled === undefined) return told(held.length, (text) => text)
    isHeld = true
    const count = held.length
    settled.then(
      () => told(count, (text) => text),
      (error: unknown) => told(count, (text) => unwritten(text, error)),
    )
  }
  /** @param as - what is said in place of each of the first frames; undefined: it waits on */
  const told = (count: number, as: (text: string) => string | undefined): void => {
    isHeld = false
    if (ended) return
    const texts = held.splice(0, count)
    const later = held
    held = []
    heldLength = 0
    for (const text of texts) {
      const said = as(text)
      if (said === undefined) hold(text)
      else receiver.frame(said)
    }
    for (const text of later) hold(text)
    if (later.length > 0) tell()
  }
  const unreadBytes = (): number => receiver.unreadBytes() + heldLength
  const session = new RpcSession({
    engine: host.node.engine,
    version: request.version,
    permissions,
    sink: {
      send: (text) => {
        if (unreadBytes() > MAX_ALL_UNREAD_BYTES) return refuse(UNREAD)
        hold(text)
        if (!isHeld) tell()
      },
      unreadBytes,
      hold: (stops) => {
        isStopped = stops
        waiting = 0
      },
      close: (reason) => {
        ended = true
        receiver.refused(reason)
      },
    },
  })
  const end = (): void => {
    ended = true
    session.end()
  }
  const refuse = (reason: string): void => {
    end()
    receiver.refused(reason)
  }
  const { access } = request
  const mostBytes = access.as === 'page' || access.token !== '' ? MAX_REQUEST_BYTES : MAX_ANONYMOUS_REQUEST_BYTES
  return {
    // A port cannot be made to wait: who asks on and on without reading, or for too much at once, loses it.
    receive: (text) => {
      if (ended) return
      if (text.length > mostBytes) return refuse(`a frame has at most ${mostBytes} characters`)
      if (waiting > MAX_UNREAD_BYTES) return refuse(UNREAD)
      if (isStopped) waiting += text.length
      session.receive(text)
    },
    drained: () => session.drained(),
    end,
  }
}
