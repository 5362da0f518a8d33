/**
 * The connection to the node, kept up:
 *
 *   connecting -> live -> offline -> connecting …
 *        \________________/
 */
import { errorMessage } from 'petrel'
import type { Connection, LinkState } from './connection.ts'
import type { MonitorDeps } from './deps.ts'
import { MonitorError } from './errors.ts'

const RETRY_MS = [500, 1000, 2000, 4000, 8000]

/** What the link does with a connection. */
export interface LinkUser {
  /** Fails when the node cannot be used. */
  opened(connection: Connection): Promise<void>
  closed(): void
}

/** One connection to the node at a time, and another when it is lost. */
export class Link {
  readonly #deps: Pick<MonitorDeps, 'connect' | 'setTimer' | 'changed'>
  readonly #user: LinkUser
  #state: LinkState = { at: 'connecting' }
  #connection: Connection | undefined
  #attempt = 0
  #isStopped = false
  #cancelRetry: () => void = () => undefined

  constructor(deps: Pick<MonitorDeps, 'connect' | 'setTimer' | 'changed'>, user: LinkUser) {
    this.#deps = deps
    this.#user = user
  }

  get state(): LinkState {
    return this.#state
  }

  start(): void {
    void this.#connect()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelRetry()
    this.#connection?.close()
  }

  /** Tries at once, without the pause. */
  retry(): void {
    if (this.#state.at !== 'offline') return
    this.#cancelRetry()
    this.#attempt = 0
    void this.#connect()
  }

  /** live, connecting -> offline. @param connection - another one than the present is over already */
  lost(connection: Connection | undefined, error: unknown): void {
    if (this.#isStopped || (connection !== this.#connection && this.#state.at === 'live')) return
    if (this.#state.at === 'offline') return
    this.#connection = undefined
    this.#user.closed()
    connection?.close()
    const reason = typeof error === 'string' ? error : errorMessage(error)
    const cause = error instanceof MonitorError ? error.code : undefined
    this.#set({ at: 'offline', reason, cause })
    const pause = RETRY_MS[Math.min(this.#attempt++, RETRY_MS.length - 1)] as number
    this.#cancelRetry = this.#deps.setTimer(() => void this.#connect(), pause)
  }

  #set(state: LinkState): void {
    this.#state = state
    this.#deps.changed('link')
  }

  /** offline -> connecting -> live */
  async #connect(): Promise<void> {
    if (this.#isStopped) return
    this.#set({ at: 'connecting' })
    let connection: Connection | undefined
    try {
      let isOver = false
      connection = await this.#deps.connect(() => {
        isOver = true
        this.lost(connection, 'the connection ended')
      })
      if (isOver || this.#isStopped) {
        connection.close()
        return
      }
      this.#connection = connection
      await this.#user.opened(connection)
      // It may have ended meanwhile.
      if (this.#connection !== connection) return
      this.#attempt = 0
      this.#set({ at: 'live' })
    } catch (error) {
      this.lost(connection, error)
    }
  }
}
