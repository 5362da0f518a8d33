/**
 * The worker of a tab: runs the node, or uses the one that another tab runs, and takes over when that one goes. Started
 * by {@link startPetrel}; only the page that started it can talk to it.
 */
import { errorMessage, PetrelError } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { NodePorts } from '../../src/node/nodePorts.ts'
import { type Database, openDatabase } from './database.ts'
import { BrowserError } from './errors.ts'
import { openSession } from './frames.ts'
import { type KeptSecrets, keptSecrets } from './keyCopy.ts'
import { openKeys, type TabKeys } from './keys.ts'
import { consoleLogger } from './logger.ts'
import type { FromWorker, PlainFailure, TabState, ToWorker } from './messages.ts'
import type { SessionRequest, WorkerOptions } from './nodeOptions.ts'
import { type OpenFrames, PortSessions } from './portSessions.ts'
import { browserRandom } from './random.ts'
import { startTabNode } from './tabNode.ts'
import type { TabNode } from './tabParts.ts'
import { followTabs, serveTabs } from './tabRelay.ts'
import { browserClock, browserTimers } from './time.ts'
import { installWebRtc } from './webRtcWorker.ts'

const scope = globalThis as unknown as DedicatedWorkerGlobalScope

function plain(error: unknown): PlainFailure {
  const code = error instanceof PetrelError ? (error as PetrelError).code : 'START_FAILED'
  return { code, message: errorMessage(error) }
}

function post(message: FromWorker): void {
  scope.postMessage(message)
}

/** Between the answer to `Shutdown` and the end, ms. */
const SHUTDOWN_MS = 100

/** The keys, and what became of them since the last start. */
type KeptKeys = TabKeys &
  Pick<Extract<TabState, { readonly at: 'leading' }>, 'isLost' | 'takenBack'> &
  Pick<KeptSecrets, 'copy'>

/** This tab's part in the node. Steps run one after the other. */
class Tab {
  readonly #sessions = new PortSessions()
  readonly #options: WorkerOptions
  readonly #log: Logger
  readonly #ended = new AbortController()
  /** Resolves the promise that holds the lock. */
  #release: () => void = () => undefined
  #stopping: Promise<void> | undefined
  #running: TabNode | undefined
  #stopServing: () => void = () => undefined
  #isOnline: boolean = scope.navigator.onLine

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#log = consoleLogger(options.log)
  }

  /** The page hears of it: not every browser tells a worker. */
  setOnline(online: boolean): void {
    this.#isOnline = online
    this.#running?.setOnline(online)
    post({ type: 'online', online })
  }

  session(request: SessionRequest, port: MessagePort): void {
    this.#sessions.add(request, port)
  }

  async join(): Promise<void> {
    this.#state({ at: 'joining' })
    try {
      // secp256k1 is noble's here, for the size of the bundle.
      for (const { what, reason } of await initCrypto()) this.#log.info('slow cryptography', { what, reason })
      const database = await openDatabase(this.#options.name)
      const { name, wasKept, passphrase } = this.#options
      const { secrets, takenBack, copy } = await keptSecrets(name, database, this.#log)
      const isLost = wasKept && database.wasMade
      if (isLost || takenBack > 0) this.#log.error('the browser has removed what was kept', { name, takenBack })
      const keys = await openKeys(secrets, passphrase, this.#log)
      await this.#take({ ...keys, isLost, takenBack, copy }, database)
    } catch (error) {
      this.#sessions.fail(`the node did not start: ${errorMessage(error)}`)
      this.#state({ at: 'failed', error: plain(error) })
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** joining -> leading, or -> following -> leading */
  async #take(keys: KeptKeys, database: Database): Promise<void> {
    const lock = `petrel/${this.#options.name}`
    const deps = { channel: lock, secret: keys.tabsSecret, log: this.#log }
    const lead = async (): Promise<void> => {
      await this.#lead(keys, database)
      await new Promise<void>((resolve) => {
        this.#release = resolve
        if (this.#ended.signal.aborted) resolve()
      })
    }
    const taken = await navigator.locks.request(lock, { ifAvailable: true }, async (granted) => {
      if (granted === null) return false
      await lead()
      return true
    })
    if (taken || this.#ended.signal.aborted) return
    const follower = followTabs(deps, {
      leader: (open, isSealed) => {
        this.#state({ at: 'following', isSealed })
        this.#sessions.use(open)
      },
      mismatch: (leaderIsSealed) => {
        const advice = leaderIsSealed ? 'give its passphrase' : 'it has no passphrase, so give none'
        const error = new BrowserError('ACCESS_REFUSED', `Cannot use the node of another tab: ${advice}`)
        this.#state({ at: 'failed', error: plain(error) })
      },
    })
    try {
      await navigator.locks.request(lock, { signal: this.#ended.signal }, async () => {
        follower.stop()
        await lead()
      })
    } catch (error) {
      if (!this.#ended.signal.aborted) throw error
    } finally {
      follower.stop()
    }
  }

  async #lead(keys: KeptKeys, database: Database): Promise<void> {
    const options = this.#options
    this.#state({ at: 'starting' })
    const ports: NodePorts = { clock: browserClock, timers: browserTimers, random: browserRandom, log: this.#log }
    const running = await startTabNode({
      options,
      database,
      copy: keys.copy,
      keystore: keys.keystore,
      ports,
      // After the answer has gone out.
      shutdown: () => browserTimers.setTimeout(() => void this.stop(), SHUTDOWN_MS),
      onTrouble: (trouble) => post({ type: 'trouble', trouble: trouble === undefined ? undefined : plain(trouble) }),
    })
    this.#running = running
    if (!this.#isOnline) running.setOnline(false)
    const open: OpenFrames = async (request, receiver) =>
      openSession({ node: running.node, settle: running.settle }, request, receiver)
    // Keys of a local chain follow from its seed: whoever reads this page has them. Any other node's are its user's.
    const isOpen = keys.tabsSecret !== undefined || options.node.kind === 'local'
    const limit = (request: SessionRequest): SessionRequest =>
      isOpen || request.access.as === 'token' ? request : { ...request, access: { as: 'token', token: '' } }
    this.#stopServing = serveTabs(
      { channel: `petrel/${options.name}`, secret: keys.tabsSecret, log: this.#log },
      open,
      limit,
    )
    this.#sessions.use(open)
    const { state, isLost, takenBack } = keys
    this.#state({ at: 'leading', network: running.node.network.name, keys: state, isLost, takenBack })
  }

  async #stop(): Promise<void> {
    this.#ended.abort()
    this.#stopServing()
    this.#sessions.use(undefined)
    try {
      await this.#running?.stop()
    } catch (error) {
      this.#log.error('the node did not stop in order', { reason: errorMessage(error) })
    }
    this.#release()
    this.#state({ at: 'stopped' })
  }

  #state(state: TabState): void {
    if (this.#ended.signal.aborted && state.at !== 'stopped') return
    post({ type: 'state', state })
  }
}

let tab: Tab | undefined

scope.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case 'start':
      if (tab !== undefined) return
      installWebRtc(data.webRtc)
      tab = new Tab(data.options)
      void tab.join()
      return
    case 'session':
      tab?.session(data.request, data.port)
      return
    case 'online':
      tab?.setOnline(data.online)
      return
    case 'stop':
      void tab?.stop()
      return
  }
}
