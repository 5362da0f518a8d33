/**
 * The threads that answer reads beside the node, of a number that is allowed: the first starts when the node's own thread is busy
 * with requests, the next when they still are too many. A node that nobody asks has none.
 */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { MAX_READ_THREADS } from '../../../src/base/bounds.ts'
import { errorMessage } from '../../../src/base/errors.ts'
import type { Logger } from '../../../src/base/ports.ts'
import { encode } from '../../../src/codec/description.ts'
import { valueToBytes } from '../../../src/execution/valueBytes.ts'
import type { PetrelNode } from '../../../src/node/node.ts'
import type { ReaderStart } from '../../../src/node/reader.ts'
import { blockHeader } from '../../../src/types/blockHeader.ts'
import { firstBlock, type Tipset } from '../../../src/types/tipset.ts'
import type { CacheSizes } from '../cacheSize.ts'
import { PlatformError } from '../errors.ts'
import { startServer } from '../httpServer.ts'
import { CLOSE_GRACE_MS, type Listening } from '../rpcServer.ts'
import { type FromReader, type ReaderPlaces, type ReadThreadData, SHARED_COUNTS, type ToReader } from './messages.ts'
import type { SharedCounts } from './sharedCounts.ts'

/** What they are made of. */
export interface ReadersDeps {
  readonly node: PetrelNode
  readonly places: ReaderPlaces
  /** Also of the node's own server. */
  readonly counts: SharedCounts
  readonly sizes: CacheSizes
  /** How many there may be. */
  readonly most: number
  readonly hasIndex: boolean
  readonly http: ReaderStart['http']
  readonly trustedProxies: readonly string[]
  readonly log: Logger
}

/** Between two looks at how busy the node is, ms. */
const LOOK_MS = 1000
/** Share of the time that the node's thread works, and requests a second, from which on it wants help. */
const BUSY = 0.6
const MANY = 100
/** Looks in a row that must find it so. */
const BUSY_LOOKS = 2
/** Tipsets whose headers are told with a head; what is further is on disk. */
const TOLD_TIPSETS = 20
/** How long a thread may take to end, ms: longer than its answers under way may. */
const STOP_MS: number = CLOSE_GRACE_MS + 500
const SECRET_BYTES = 16

/** Where the kernel shares connections out among those who listen on one port. */
const SHARING: readonly string[] = ['linux', 'freebsd', 'sunos', 'aix']

/**
 * How many threads there may be.
 * @param asked - 0 to `MAX_READ_THREADS`; undefined: one less than there are processors, at most as many, where they can be
 * @throws PlatformError `CONFIG_INVALID` where they are asked for and cannot be
 */
export function readThreads(
  asked: number | undefined,
  sharesPorts: boolean,
  processors: number = availableParallelism(),
): number {
  const canBe = sharesPorts && SHARING.includes(process.platform)
  if (asked !== undefined && asked > 0 && !canBe)
    throw new PlatformError('CONFIG_INVALID', 'not supported: --rpc-threads in this runtime or on this system')
  return asked ?? (canBe ? Math.min(MAX_READ_THREADS, processors - 1) : 0)
}

/** The thread's file lies beside this one's, in the sources and in the built package. */
function entry(): URL {
  const here = import.meta.url
  return here.endsWith('.ts') ? new URL('./readWorker.ts', here) : new URL('./readWorker.js', here)
}

/** See the file's head. */
export class Readers {
  readonly #deps: ReadersDeps
  readonly #shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  /** And the row of each in the counts. */
  readonly #threads = new Map<Worker, number>()
  readonly #secret = randomBytes(SECRET_BYTES).toString('hex')
  readonly #stops: (() => void)[] = []
  #http: ReaderStart['http']
  #trustedProxies: readonly string[]
  #api: Listening | undefined
  #behind: Promise<Listening> | undefined
  #look: NodeJS.Timeout | undefined
  #requests = 0
  #busyLooks = 0
  #isStarting = false
  /** Connections from before the newest thread listened end with their next answer: their clients' next ones are shared out. */
  #old = new WeakSet<Socket>()
  readonly #open = new Set<Socket>()

  constructor(deps: ReadersDeps) {
    this.#deps = deps
    this.#http = deps.http
    this.#trustedProxies = deps.trustedProxies
  }

  /** A client has connected to the node. */
  connected(socket: Socket): void {
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
  }

  /** A client asks the node. @returns whether its connection is to end with the answer */
  asked(socket: Socket): boolean {
    this.#requests++
    return this.#old.delete(socket)
  }

  /** Begins to look whether help is wanted. */
  begin(api: Listening): void {
    const { node } = this.#deps
    this.#api = api
    this.#stops.push(
      node.view.store.onHeadChange((_reverted, applied) => this.#tellHead(applied)),
      node.tokens.onRevoked(() => void Atomics.add(this.#shared, SHARED_COUNTS.revoked, 1)),
    )
    let before = performance.eventLoopUtilization()
    this.#look = setInterval(() => {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      const isBusy = utilization > BUSY && this.#requests * 1000 > MANY * LOOK_MS
      this.#requests = 0
      this.#busyLooks = isBusy ? this.#busyLooks + 1 : 0
      if (this.#busyLooks < BUSY_LOOKS || this.#isStarting || this.#threads.size >= this.#deps.most) return
      this.#busyLooks = 0
      void this.#start()
    }, LOOK_MS)
    this.#look.unref()
  }

  /** Changes who may call, and whose word for a client's address counts, in threads that run and in later ones. */
  allow(http: ReaderStart['http'], trustedProxies: readonly string[]): void {
    this.#http = { ...this.#http, ...http }
    this.#trustedProxies = trustedProxies
    this.#tell({ kind: 'allow', http: this.#http, trustedProxies })
  }

  /** Ends all; resolves when they have. */
  async close(): Promise<void> {
    clearInterval(this.#look)
    for (const stop of this.#stops.splice(0)) stop()
    const threads = [...this.#threads.keys()]
    this.#threads.clear()
    await Promise.all(
      threads.map(async (thread) => {
        const { promise: stopped, resolve } = Promise.withResolvers<void>()
        thread.on('message', ({ kind }: FromReader) => kind === 'stopped' && resolve())
        thread.once('exit', () => resolve())
        // Keeps the process alive meanwhile, which a thread does not.
        const longest = setTimeout(resolve, STOP_MS)
        thread.postMessage({ kind: 'stop' } satisfies ToReader)
        await stopped
        clearTimeout(longest)
        await thread.terminate()
      }),
    )
    await (await this.#behind)?.close()
  }

  async #start(): Promise<void> {
    const { node, places, log } = this.#deps
    this.#isStarting = true
    try {
      await places.ready
      this.#behind ??= startServer({
        ...{ handler: node.handler, engine: node.engine, log, host: '127.0.0.1', port: 0 },
        ...{ behind: this.#secret, closeGraceMs: CLOSE_GRACE_MS },
      })
      const { port } = await this.#behind
      await this.#startThread({ port, secret: this.#secret })
      log.info('a thread answers reads, too', { threads: this.#threads.size })
      this.#old = new WeakSet(this.#open)
    } catch (error) {
      log.warn('no thread for reads', { reason: errorMessage(error) })
    } finally {
      this.#isStarting = false
    }
  }

  #startThread(behind: ReadThreadData['behind']): Promise<void> {
    const { node, places, counts, sizes, hasIndex } = this.#deps
    const { chain, messages, archive, actors } = places
    const { view, tokens } = node
    const genesis = view.store.genesis().key[0]
    const { host, port } = this.#api as Listening
    const start = valueToBytes({ network: view.network, genesis, secret: tokens.secret, hasIndex, http: this.#http })
    const taken = new Set(this.#threads.values())
    let row = 1
    while (taken.has(row)) row++
    const thread = new Worker(entry(), {
      name: 'petrel-reads',
      workerData: {
        places: { chain, messages, archive, actors },
        sizes,
        host,
        port,
        behind,
        trustedProxies: this.#trustedProxies,
        start,
        shared: this.#shared,
        counts: { cells: counts.cells, row },
      } satisfies ReadThreadData,
    })
    thread.unref()
    this.#threads.set(thread, row)
    counts.opened()
    const head = view.store.head()
    thread.postMessage(this.#headMessage([head]))
    return new Promise((resolve, reject) => {
      thread.on('message', (message: FromReader) => {
        if (message.kind === 'listens') resolve()
        if (message.kind !== 'called') return
        for (const [method, times] of message.calls) {
          this.#requests += times.length
          for (const ms of times) node.called?.(method, ms, false)
        }
      })
      const end = (reason: Error): void => {
        if (this.#threads.delete(thread)) {
          counts.closed(row)
          this.#deps.log.warn('a thread of reads has ended', { reason: reason.message })
        }
        reject(reason)
      }
      thread.on('error', end)
      thread.on('exit', (code) => end(new Error(`exit code ${code}`)))
    })
  }

  #tellHead(applied: readonly Tipset[]): void {
    Atomics.add(this.#shared, SHARED_COUNTS.heads, 1)
    if (this.#threads.size === 0) return
    const { view } = this.#deps.node
    const onTheWay = applied.length > 0 ? applied.slice(-TOLD_TIPSETS) : [view.store.head()]
    this.#tell(this.#headMessage(onTheWay))
  }

  #headMessage(tipsets: readonly Tipset[]): ToReader {
    const ordered = [...tipsets].sort((a, b) => firstBlock(a).height - firstBlock(b).height)
    return {
      kind: 'head',
      count: Atomics.load(this.#shared, SHARED_COUNTS.heads),
      tipsets: ordered.map(({ blocks }) => blocks.map((header) => encode(blockHeader, header))),
    }
  }

  #tell(message: ToReader): void {
    for (const thread of this.#threads.keys()) thread.postMessage(message)
  }
}
