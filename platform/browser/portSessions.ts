/** The sessions of this tab's clients, each on a port, wherever the node is: in this worker, or in another tab. */
import { errorMessage } from '../../src/base/errors.ts'
import type { FramePort, PortSignal } from './framePort.ts'
import { EarlyFrames, type FrameReceiver, type FrameSession } from './frames.ts'
import type { SessionRequest } from './nodeOptions.ts'

/** Opens sessions with the node that answers at present. */
export type OpenFrames = (request: SessionRequest, receiver: FrameReceiver) => Promise<FrameSession>

interface Client {
  readonly request: SessionRequest
  readonly port: FramePort
  /** Counts the nodes that this client was connected to. */
  turn: number
  /** It has not heard yet that the node changed: what it sends was meant for the other one. */
  isStale: boolean
  session: FrameSession | undefined
  /** Frames that came while there was no session. */
  readonly early: EarlyFrames
  unread: number
}

/** What is unread when a client says that it has read so much. */
export function afterReading(unread: number, read: unknown): number {
  return typeof read === 'number' && read > 0 ? Math.max(0, unread - read) : unread
}

/** The clients of one worker; when the node moves to another tab their sessions are opened anew there. */
export class PortSessions {
  readonly #clients = new Set<Client>()
  #open: OpenFrames | undefined
  #failure: string | undefined

  add(request: SessionRequest, port: FramePort): void {
    const client: Client = {
      request,
      port,
      turn: 0,
      isStale: false,
      session: undefined,
      early: new EarlyFrames(),
      unread: 0,
    }
    this.#clients.add(client)
    port.onmessage = ({ data }: { readonly data: unknown }) => this.#received(client, data)
    // Where the browser tells it: the other end is gone with its page.
    port.addEventListener('close', () => this.#remove(client))
    port.start()
    if (this.#failure === undefined) void this.#connect(client)
    else this.#refuse(client, this.#failure)
  }

  /** From now on that node answers; undefined: none does, and frames wait. */
  use(open: OpenFrames | undefined): void {
    const hadNode = this.#open !== undefined
    this.#open = open
    for (const client of this.#clients) {
      client.turn++
      client.session?.end()
      client.session = undefined
      if (hadNode) {
        // What was asked of the other node gets no answer any more; the client asks again where it wants to.
        client.early.take()
        client.isStale = true
        client.port.postMessage({ changed: true } satisfies PortSignal)
      }
      void this.#connect(client)
    }
  }

  /** No node will answer any more: all clients hear of it, and those that come later. */
  fail(reason: string): void {
    this.#failure = reason
    this.#open = undefined
    for (const client of [...this.#clients]) this.#refuse(client, reason)
  }

  /** The other end of a port may be a frame of another origin: anything may come. */
  #received(client: Client, data: unknown): void {
    if (typeof data === 'string') {
      if (client.isStale) return
      if (client.session !== undefined) client.session.receive(data)
      else if (!client.early.add(data)) this.#refuse(client, 'too much was asked before the node answers')
    } else if (typeof data !== 'object' || data === null) return
    else if ('read' in data) {
      client.unread = afterReading(client.unread, data.read)
      client.session?.drained()
    } else if ('ready' in data) client.isStale = false
    else if ('close' in data) this.#remove(client)
  }

  async #connect(client: Client): Promise<void> {
    const open = this.#open
    if (open === undefined) return
    const { turn } = client
    const isCurrent = (): boolean => client.turn === turn && this.#clients.has(client)
    try {
      const session = await open(client.request, {
        frame: (text) => {
          if (!isCurrent()) return
          client.unread += text.length
          client.port.postMessage(text)
        },
        unreadBytes: () => client.unread,
        refused: (reason) => {
          if (isCurrent()) this.#refuse(client, reason)
        },
      })
      if (!isCurrent()) {
        session.end()
        return
      }
      client.session = session
      for (const text of client.early.take()) session.receive(text)
    } catch (error) {
      if (!isCurrent()) return
      this.#refuse(client, errorMessage(error))
    }
  }

  #refuse(client: Client, reason: string): void {
    client.port.postMessage({ refused: reason } satisfies PortSignal)
    this.#remove(client)
  }

  #remove(client: Client): void {
    if (!this.#clients.delete(client)) return
    client.session?.end()
    client.session = undefined
    client.port.close()
  }
}
