/**
 * A node in this tab, from the page's side.
 *
 *     const petrel = await startPetrel({ node: { kind: 'local' }, passphrase })
 *     const node = createClient(petrel.transport, { ChainHead: chainHead })
 *     await petrel.request('ChainHead')
 *     await petrel.stop()
 *
 * The node runs in a worker that this module creates: keys, tokens and stores are there, out of reach of the page's other
 * scripts, which get what `connect` or `serveOrigins` gives them.
 */
import type { Json } from '../../src/codec/jsonText.ts'
import type { ChannelListener, RpcTransport } from '../../src/rpc/client/transport.ts'
import { checkOptions } from './checkOptions.ts'
import { BrowserError } from './errors.ts'
import { isMarked, mark } from './keptMark.ts'
import type { FromWorker, PlainFailure, TabState, ToWorker } from './messages.ts'
import type { NodeKind, PetrelOptions, SessionRequest, WorkerOptions } from './nodeOptions.ts'
import { toJson } from './plainJson.ts'
import { PetrelProvider, ProviderError } from './provider.ts'
import { TabTransport } from './tabTransport.ts'
import { serveWebRtc } from './webRtcPage.ts'

export type { TabState } from './messages.ts'
export type { FollowerKind, LocalChainKind, NodeKind, PetrelOptions, SnapshotKind } from './nodeOptions.ts'
export { TabTransport } from './tabTransport.ts'

/** What happens while it runs. */
export interface PetrelEvents {
  /** This tab's part: it runs the node, or another tab does. */
  state?(state: TabState): void
  /** Writing to IndexedDB fails (quota); undefined: it works again. */
  trouble?(trouble: PlainFailure | undefined): void
  online?(online: boolean): void
}

/** A node in the tab. */
export interface Petrel {
  /** For `createClient`, with all permissions. */
  readonly transport: RpcTransport
  /** For clients of other makes. */
  readonly provider: PetrelProvider
  readonly state: TabState
  /** One call, JSON in and out. @param method - `ChainHead`, or a full name: `eth_blockNumber` @throws RpcClientError */
  request(method: string, params?: readonly unknown[], signal?: AbortSignal): Promise<Json>
  /** A channel. @returns what stops it @throws RpcClientError */
  subscribe(method: string, params: readonly unknown[], listener: ChannelListener<Json>): Promise<() => void>
  /** Hears of changes; the present state at once. @returns what stops it */
  listen(events: PetrelEvents): () => void
  /** A port for somebody else ({@link TabTransport}), with the permissions of a token; without one, read only. */
  connect(access?: { readonly token?: string; readonly version?: 'v0' | 'v1' }): MessagePort
  /**
   * Serves other windows (frames of other origins) that ask by {@link connectTo}: those of `origins` and no others, with
   * the permissions of their tokens.
   * @returns what ends it; sessions that are open go on
   */
  serveOrigins(origins: readonly string[]): () => void
  /** Stops the node, all writes done, or hands it to another tab. */
  stop(): Promise<void>
}

/** The message by which a window asks for a session. */
const CONNECT = 'petrel-connect'

interface ConnectRequest {
  readonly type: typeof CONNECT
  readonly token: string
}

/** How long `stop` waits for the worker before it is ended, ms. */
const STOP_MS = 10_000

function defaultName(node: NodeKind): string {
  return node.kind === 'local' ? 'local' : `${node.kind}-${node.network.startsWith('{') ? 'custom' : node.network}`
}

function fullName(method: string): string {
  return method.includes('.') || method.includes('_') ? method : `Filecoin.${method}`
}

/**
 * Starts the node, or joins the one that another tab runs; resolves when it answers.
 * @throws BrowserError `OPTIONS_INVALID`, `NOT_SUPPORTED`, `STORE_FAILED`, `ACCESS_REFUSED`, …; `info.code` of `START_FAILED` is the node's own
 * code (`WRONG_PASSPHRASE`, …)
 */
export async function startPetrel(options: PetrelOptions): Promise<Petrel> {
  checkOptions(options)
  if (options.persist ?? true) void navigator.storage?.persist?.().catch(() => false)
  const workerUrl = options.workerUrl ?? new URL('./worker.js', import.meta.url)
  const worker = new Worker(workerUrl, { type: 'module', name: 'petrel' })
  const tab = new TabHandle(worker, options)
  try {
    await tab.ready
    mark(nameOf(options))
  } catch (error) {
    worker.terminate()
    throw error
  }
  return tab
}

class TabHandle implements Petrel {
  readonly transport: TabTransport
  readonly provider: PetrelProvider
  readonly ready: Promise<void>
  readonly #worker: Worker
  readonly #version: 'v0' | 'v1'
  readonly #endWebRtc: () => void
  readonly #listeners = new Set<PetrelEvents>()
  #state: TabState = { at: 'joining' }
  #settleReady: { resolve(): void; reject(error: Error): void } = { resolve: () => undefined, reject: () => undefined }
  #stopping: Promise<void> | undefined

  readonly #online = (): void => this.#post({ type: 'online', online: navigator.onLine })

  constructor(worker: Worker, options: PetrelOptions) {
    this.#worker = worker
    window.addEventListener('online', this.#online)
    window.addEventListener('offline', this.#online)
    this.#version = options.version ?? 'v1'
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject }
    })
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#received(data)
    worker.onerror = (event) => this.#failed(event.message || 'its script could not be loaded')
    const { port1, port2 } = new MessageChannel()
    this.#endWebRtc = serveWebRtc(port1)
    const start: ToWorker = { type: 'start', options: workerOptions(options), webRtc: port2 }
    worker.postMessage(start, [port2])
    const port = this.#open({ access: { as: 'page' }, version: this.#version })
    this.transport = new TabTransport(port, {
      notification: (method, params) => this.provider.notified(method, params),
      changed: () => void this.#announceChain(),
    })
    this.provider = new PetrelProvider(this.transport)
    this.ready.then(
      () => void this.#announceChain(),
      () => undefined,
    )
  }

  get state(): TabState {
    return this.#state
  }

  request(method: string, params: readonly unknown[] = [], signal?: AbortSignal): Promise<Json> {
    return this.transport.request(fullName(method), toJson(params), signal)
  }

  subscribe(method: string, params: readonly unknown[], listener: ChannelListener<Json>): Promise<() => void> {
    return this.transport.subscribe(fullName(method), toJson(params), listener)
  }

  listen(events: PetrelEvents): () => void {
    this.#listeners.add(events)
    events.state?.(this.#state)
    return () => void this.#listeners.delete(events)
  }

  connect({ token = '', version = this.#version }: { token?: string; version?: 'v0' | 'v1' } = {}): MessagePort {
    return this.#open({ access: { as: 'token', token }, version })
  }

  serveOrigins(origins: readonly string[]): () => void {
    const onMessage = ({ data, origin, ports }: MessageEvent<unknown>): void => {
      const port = ports[0]
      if (port === undefined || !isConnect(data) || !origins.includes(origin)) return
      this.#session({ access: { as: 'token', token: data.token }, version: this.#version }, port)
    }
    window.addEventListener('message', onMessage)
    return () => window.removeEventListener('message', onMessage)
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.transport.close()
    const stopped = new Promise<void>((resolve) => {
      const unlisten = this.listen({
        state: ({ at }) => {
          if (at !== 'stopped') return
          unlisten()
          resolve()
        },
      })
    })
    this.#post({ type: 'stop' })
    await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, STOP_MS))])
    this.#worker.terminate()
    this.#endWebRtc()
    window.removeEventListener('online', this.#online)
    window.removeEventListener('offline', this.#online)
    this.#settleReady.reject(new BrowserError('STOPPED', 'the node was stopped'))
  }

  #open(request: SessionRequest): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.#session(request, port2)
    return port1
  }

  #session(request: SessionRequest, port: MessagePort): void {
    this.#worker.postMessage({ type: 'session', request, port } satisfies ToWorker, [port])
  }

  #received(message: FromWorker): void {
    switch (message.type) {
      case 'state':
        this.#setState(message.state)
        return
      case 'trouble':
        for (const listener of [...this.#listeners]) listener.trouble?.(message.trouble)
        return
      case 'online':
        for (const listener of [...this.#listeners]) listener.online?.(message.online)
        return
    }
  }

  #setState(state: TabState): void {
    this.#state = state
    if (state.at === 'leading' || state.at === 'following') this.#settleReady.resolve()
    if (state.at === 'failed') {
      const { code, message } = state.error
      this.#settleReady.reject(new BrowserError('START_FAILED', message, { code }))
    }
    if (state.at === 'failed' || state.at === 'stopped') {
      this.provider.emit('disconnect', new ProviderError(DISCONNECTED, `the node is ${state.at}`))
    }
    for (const listener of [...this.#listeners]) listener.state?.(state)
  }

  #failed(reason: string): void {
    this.#setState({ at: 'failed', error: { code: 'START_FAILED', message: `Cannot run the worker: ${reason}` } })
  }

  /** After a change of nodes too: subscriptions that were made by calls have to be made again. */
  async #announceChain(): Promise<void> {
    const chainId = await this.request('eth_chainId').catch(() => undefined)
    if (typeof chainId === 'string') this.provider.emit('connect', { chainId })
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message)
  }
}

/** EIP-1193's number. */
const DISCONNECTED = 4900

function isConnect(data: unknown): data is ConnectRequest {
  if (typeof data !== 'object' || data === null || !('type' in data) || !('token' in data)) return false
  return data.type === CONNECT && typeof data.token === 'string'
}

const nameOf = ({ name, node }: PetrelOptions): string => name ?? defaultName(node)

function workerOptions(options: PetrelOptions): WorkerOptions {
  const { node, maxMemoryBytes, maxDiskBytes } = options
  return {
    node: withPlainUrls(node),
    name: nameOf(options),
    wasKept: isMarked(nameOf(options)),
    passphrase: options.passphrase,
    log: options.log ?? 'warn',
    vmWorkerUrl: String(options.vmWorkerUrl ?? new URL('./vmWorker.js', import.meta.url)),
    ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
    ...(maxDiskBytes === undefined ? {} : { maxDiskBytes }),
  }
}

/** A URL does not cross to a worker; a relative one means the page. */
function withPlainUrls<T extends NodeKind>(node: T): T {
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain)
    return value instanceof URL || typeof value === 'string' ? new URL(value, document.baseURI).href : value
  }
  const fields = Object.entries(node).map(([key, value]) => [
    key,
    ADDRESSES.has(key) ? plain(value) : (value as unknown),
  ])
  return Object.fromEntries(fields) as T
}

/** Fields that hold an address when they hold a text. */
const ADDRESSES: ReadonlySet<string> = new Set(['snapshot', 'bundles', 'genesis'])

/**
 * Asks a page for a session with its node: from a frame of another origin, the page being `window.parent`.
 * @param origin - of that page: nobody else gets the token
 */
export function connectTo(target: Window, origin: string, token = ''): TabTransport {
  const { port1, port2 } = new MessageChannel()
  target.postMessage({ type: CONNECT, token } satisfies ConnectRequest, origin, [port2])
  return new TabTransport(port1)
}
