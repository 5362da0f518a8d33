/** What a node is asked again and again, because it does not tell of it by itself: peers, sync, F3, what a light node has proven. */
import { type AddrInfo, certificateHead, errorMessage, type LightInfo, RpcClientError } from 'petrel'
import type { MonitorDeps } from './deps.ts'
import { Repeated } from './repeated.ts'
import type { Session } from './session.ts'
import { type SyncStep, syncStepOf } from './syncSteps.ts'

const PEERS_MS = 10_000
/** How often a light node is asked what it has proven. */
const LIGHT_MS = 2000
const SYNC_MS = 3000
/** While nothing is to be synced. */
const SYNC_IDLE_MS = 15_000
const F3_MS = 30_000

/** What the questions depend on, and who hears of answers. */
export interface NewsUser {
  /** The shown chain is not where the clock is. */
  isBehind(): boolean
  /** A light node has proven more. */
  proven(session: Session): Promise<void>
}

/** The newest answers, and what went wrong with those that did not come. */
export class NodeNews {
  readonly #deps: Pick<MonitorDeps, 'changed' | 'setTimer'>
  readonly #user: NewsUser
  readonly #questions: readonly [Repeated, Repeated, Repeated]
  #peers: readonly AddrInfo[] | undefined
  #peersError: string | undefined
  #light: LightInfo | undefined
  #syncStep: SyncStep | undefined
  #f3Epoch: number | undefined

  constructor(deps: Pick<MonitorDeps, 'changed' | 'setTimer'>, user: NewsUser) {
    this.#deps = deps
    this.#user = user
    this.#questions = [new Repeated(deps.setTimer), new Repeated(deps.setTimer), new Repeated(deps.setTimer)]
  }

  /** undefined: not asked yet. */
  get peers(): readonly AddrInfo[] | undefined {
    return this.#peers
  }

  get peersError(): string | undefined {
    return this.#peersError
  }

  /** Of a light node; undefined of any other, or not asked yet. */
  get light(): LightInfo | undefined {
    return this.#light
  }

  /** The sync that is under way; undefined: none, or the node does not tell. */
  get syncStep(): SyncStep | undefined {
    return this.#syncStep
  }

  /** The newest epoch that a certificate of F3 makes final; undefined: the node tells of none. */
  get f3Epoch(): number | undefined {
    return this.#light?.final?.epoch ?? this.#f3Epoch
  }

  open(session: Session): void {
    const [peers, second, f3] = this.#questions
    peers.start(
      () => this.#askPeers(session),
      () => PEERS_MS,
    )
    if (session.connection.isLight === true) {
      second.start(
        () => this.#askLight(session),
        () => LIGHT_MS,
      )
      return
    }
    second.start(
      () => this.#askSync(session),
      () => (this.#user.isBehind() ? SYNC_MS : SYNC_IDLE_MS),
    )
    f3.start(
      () => this.#askF3(session),
      () => F3_MS,
    )
  }

  close(): void {
    for (const question of this.#questions) question.stop()
    this.#syncStep = undefined
  }

  forget(): void {
    this.#light = undefined
    this.#f3Epoch = undefined
    this.#peers = undefined
  }

  async #askPeers({ node }: Session): Promise<void> {
    try {
      this.#peers = await node.NetPeers()
      this.#peersError = undefined
    } catch (error) {
      this.#peers = undefined
      this.#peersError = errorMessage(error)
    }
    this.#deps.changed('peers')
  }

  /** What is proven moves when a certificate comes, whatever the head does. */
  async #askLight(session: Session): Promise<void> {
    try {
      const before = this.#light?.final?.instance
      this.#light = await session.node.LightStatus()
      this.#deps.changed('light')
      this.#deps.changed('head')
      if (this.#light.final?.instance !== before) await this.#user.proven(session)
    } catch (error) {
      if (!(error instanceof RpcClientError)) throw error
    }
  }

  async #askSync({ node }: Session): Promise<void> {
    const state = await node.SyncState().catch(() => undefined)
    this.#syncStep = state === undefined ? undefined : syncStepOf(state)
    this.#deps.changed('link')
  }

  async #askF3({ node }: Session): Promise<void> {
    const certificate = await node.F3GetLatestCertificate().catch(() => null)
    this.#f3Epoch = certificate === null ? undefined : certificateHead(certificate).epoch
    this.#deps.changed('epochs')
  }
}
