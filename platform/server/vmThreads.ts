/** Starts threads for the machine, with a stack that holds 1,024 nested calls. Node, and Deno's `node:` modules. */
import { totalmem } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { WorkerPort } from '../../src/base/ports.ts'
import type { ActorsMode } from '../../src/node/actorsCode.ts'
import type { CacheSizes } from './cacheSize.ts'

/** What a thread can read by itself; undefined: it is sent what it needs. */
export interface VmThreadOptions {
  /** Folder of the chain's LMDB environment. */
  readonly chain?: string | undefined
  /** File of the archive below it, already verified. */
  readonly archive?: string | undefined
  /** Folder of the actors' bundles. */
  readonly actors?: string | undefined
  /** Those of the chain's network, by their manifests. */
  readonly bundles?: readonly string[]
  /** Folder of the keys that storage proofs are verified with; undefined: receipts decide. */
  readonly proofs?: string | undefined
  readonly mode: ActorsMode
  /** Bytes of its caches. Default: the machine's share. */
  readonly cache?: CacheSizes
}

/** What a thread is started with. */
export interface VmThreadData {
  readonly options: VmThreadOptions
  /** {@link SHARED}: memory that both sides look at. */
  readonly shared: Int32Array
  /** Whether the node writes parts of answers to where the thread reads. */
  readonly takesParts: boolean
  /** Here is what the thread asked for, when it is told so. */
  readonly words: MessagePort
}

/**
 * What is where in {@link VmThreadData.shared}: the number, from 1, up to which nobody waits for messages; 1 when it listens;
 * the heap that it uses, KiB; how many parts are on disk; how often it was told what it asked; what its cache of decoded nodes counts, KiB.
 */
export const SHARED = { givenUp: 0, listens: 1, heapKib: 2, taken: 3, told: 4, cacheKib: 5 } as const
/** What they take. */
export const SHARED_BYTES: number = Object.keys(SHARED).length * Int32Array.BYTES_PER_ELEMENT

/** A part of an answer, apart from answers. */
export interface PartMessage {
  readonly part: Uint8Array
}

/** A question in the midst of an answer. */
export interface AskMessage {
  readonly ask: Uint8Array
}

/** What it is told; undefined: nobody knows. */
export interface WordMessage {
  readonly word: Uint8Array | undefined
}

/**
 * Deno takes no stack size per thread: it is started with `--v8-flags=--stack-size=7000` (kB). A nested call takes about
 * 6 kB of it.
 */
const STACK_MB = 64
const MAX_HEAP_MB = 4096
/**
 * Memories of actors' instances count against the heap's limit, not against one of their own of 64 MB: that one starts a
 * full collection after every 50 calls of an actor, which took 40 % of the machine's time (2.7 s instead of 4.7 s of CPU
 * for a recorded chain of 172 tipsets). Deno's V8 does not know the flag and takes no notice.
 */
const V8_FLAG = '--external-memory-accounted-in-global-limit'
/**
 * Traces are short-lived: a larger nursery collects them cheaply. With 64 a follower of full tipsets took 150 MB more (load 30), and no
 * less of the processor.
 */
const NURSERY_MB = 24
const KIBI = 1024
const MEBI = 1024 * 1024

/** Half of the machine's memory at most. */
function heapMb(): number {
  return Math.max(512, Math.min(MAX_HEAP_MB, Math.floor(totalmem() / MEBI / 2)))
}

/** The thread's file lies beside this one's program, in the sources and in the built package. */
function entry(): URL {
  const here = import.meta.url
  return here.endsWith('.ts') ? new URL('./vmWorker.ts', here) : new URL('./vmWorker.js', here)
}

/** What each running thread has for its heap, and of it for decoded nodes, bytes. */
export class ThreadHeaps {
  readonly #threads = new Set<Int32Array>()

  add(shared: Int32Array): void {
    this.#threads.add(shared)
  }

  delete(shared: Int32Array): void {
    this.#threads.delete(shared)
  }

  /** In the order in which they were started. */
  bytes(): number[] {
    return this.#read(SHARED.heapKib)
  }

  /** In the same order. */
  cacheBytes(): number[] {
    return this.#read(SHARED.cacheKib)
  }

  #read(at: number): number[] {
    return [...this.#threads].map((shared) => Atomics.load(shared, at) * KIBI)
  }
}

/** Starts one thread. @param heaps - told of it while it runs @param takesParts - {@link VmThreadData.takesParts} */
export function startVmThread(options: VmThreadOptions, heaps?: ThreadHeaps, takesParts = false): WorkerPort {
  setFlagsFromString(V8_FLAG)
  const shared = new Int32Array(new SharedArrayBuffer(SHARED_BYTES))
  const { port1: words, port2: theirWords } = new MessageChannel()
  const worker = new Worker(entry(), {
    name: 'petrel-vm',
    workerData: { options, shared, takesParts, words: theirWords } satisfies VmThreadData,
    transferList: [theirWords],
    resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: heapMb(), maxYoungGenerationSizeMb: NURSERY_MB },
  })
  worker.unref()
  words.unref()
  heaps?.add(shared)
  let due = 0
  let posted = 0
  let ended = false
  let endListener: (reason: unknown) => void = () => undefined
  let partListener: (message: Uint8Array) => Promise<void> = () => Promise.resolve()
  let askListener: (question: Uint8Array) => Promise<Uint8Array | undefined> = () => Promise.resolve(undefined)
  const end = (reason: unknown): void => {
    if (ended) return
    ended = true
    heaps?.delete(shared)
    words.close()
    endListener(reason)
  }
  const takePart = (part: Uint8Array): void => {
    void partListener(part).then(() => {
      Atomics.add(shared, SHARED.taken, 1)
      Atomics.notify(shared, SHARED.taken)
    })
  }
  const tellWord = (question: Uint8Array): void => {
    void askListener(question).then((word) => {
      words.postMessage({ word } satisfies WordMessage)
      Atomics.add(shared, SHARED.told, 1)
      Atomics.notify(shared, SHARED.told)
    })
  }
  // A message in a form that cannot be read ends the thread: nothing else would ever answer.
  worker.on('messageerror', (error) => {
    void worker.terminate()
    end(error)
  })
  worker.on('error', end)
  worker.on('exit', (code) => end(new Error(`exit code ${code}`)))
  return {
    post: (message) => {
      if (due++ === 0) worker.ref()
      posted++
      worker.postMessage(message, [message.buffer as ArrayBuffer])
    },
    onMessage: (listener) => {
      worker.on('message', (message: Uint8Array | PartMessage | AskMessage) => {
        if (ended) return
        if ('ask' in message) return tellWord(message.ask)
        if ('part' in message) return takePart(message.part)
        if (--due === 0) worker.unref()
        listener(message)
      })
    },
    onEnd: (listener) => {
      endListener = listener
    },
    onPart: (listener) => {
      partListener = listener
    },
    onAsk: (listener) => {
      askListener = listener
    },
    giveUp: () => {
      Atomics.store(shared, SHARED.givenUp, posted)
    },
    isStarting: () => Atomics.load(shared, SHARED.listens) === 0,
    close: () => {
      ended = true
      heaps?.delete(shared)
      words.close()
      void worker.terminate()
    },
  }
}
