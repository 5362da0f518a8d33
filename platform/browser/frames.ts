/** One client's JSON-RPC session with the node of this worker. */
import type { PetrelNode } from '../../src/node/node.ts'
import { PERMISSIONS } from '../../src/rpc/permission.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { BrowserError } from './errors.ts'
import type { SessionAccess, SessionRequest } from './nodeOptions.ts'

/** The client's side of a session. */
export interface FrameReceiver {
  frame(text: string): void
  /** Bytes of frames that it has not read yet. */
  unreadBytes(): number
}

/** An open session. */
export interface FrameSession {
  receive(text: string): void
  end(): void
}

/** What the answers need besides the node. */
export interface SessionHost {
  readonly node: Pick<PetrelNode, 'engine' | 'handler'>
  /** Resolves when all that was written is in the database; undefined: it is. */
  readonly settle: () => Promise<void> | undefined
}

/** @throws BrowserError `ACCESS_REFUSED` for a token that is not valid */
async function permissionsOf(host: SessionHost, access: SessionAccess): Promise<ReadonlySet<string>> {
  if (access.as === 'page') return new Set(PERMISSIONS)
  const header = (name: string): string | undefined =>
    name === 'authorization' && access.token !== '' ? `Bearer ${access.token}` : undefined
  const granted = await host.node.handler.permissions({ url: '', header })
  if (granted === undefined) throw new BrowserError('ACCESS_REFUSED', 'the node does not accept the token')
  return granted
}

/**
 * Opens a session. Frames leave in order, and none before what the node wrote until then is in the database: nobody is
 * told of a message or a head that an end of the tab would take back.
 */
export async function openSession(
  host: SessionHost,
  request: SessionRequest,
  receiver: FrameReceiver,
): Promise<FrameSession> {
  const permissions = await permissionsOf(host, request.access)
  const held: string[] = []
  let isHeld = false
  let ended = false
  const release = (): void => {
    isHeld = false
    if (ended) return
    for (const text of held.splice(0)) receiver.frame(text)
  }
  const session = new RpcSession({
    engine: host.node.engine,
    version: request.version,
    permissions,
    sink: {
      send: (text) => {
        if (isHeld) {
          held.push(text)
          return
        }
        const settled = host.settle()
        if (settled === undefined) {
          receiver.frame(text)
          return
        }
        isHeld = true
        held.push(text)
        // A store that cannot write says so by itself (trouble), and refuses what comes next.
        settled.then(release, release)
      },
      unreadBytes: () => receiver.unreadBytes(),
    },
  })
  return {
    receive: (text) => session.receive(text),
    end: () => {
      ended = true
      session.end()
    },
  }
}
