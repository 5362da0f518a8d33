/**
 * What differs between runtimes, as small interfaces. `platform/<runtime>` implements them; `src/` only takes them.
 * Every port has a suite in test/contract that runs against each implementation.
 */
import type { ErrorInfo } from './errors.ts'

/** The time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number
  /** Milliseconds from an arbitrary origin; never goes back. */
  monotonicMs(): number
}

/** Deferred runs. */
export interface Timers {
  /**
   * Runs `fn` once after `ms` milliseconds; does not keep a process alive by itself. 0: as soon as what else waits had its turn, which
   * may be less than the millisecond (in a browser, four) that timers take at least.
   * @returns what cancels it; harmless after the run
   */
  setTimeout(fn: () => void, ms: number): () => void
}

/** Randomness fit for keys. */
export interface Random {
  /** Fills all of `out` with cryptographically secure bytes. */
  fill(out: Uint8Array): void
}

/** How much an event matters; the first are the most talkative. */
export const LOG_EVENT_LEVELS = ['debug', 'info', 'warn', 'error'] as const
/** One of {@link LOG_EVENT_LEVELS}. */
export type LogEventLevel = (typeof LOG_EVENT_LEVELS)[number]

/** The log. `info` is plain data without secrets. */
export interface Logger {
  debug(message: string, info?: ErrorInfo): void
  info(message: string, info?: ErrorInfo): void
  warn(message: string, info?: ErrorInfo): void
  error(message: string, info?: ErrorInfo): void
  /** Parts with levels of their own. Absent: one level for everything, and it cannot be changed. */
  readonly parts?: LogParts
}

/** The parts of a log. */
export interface LogParts {
  /** The log of a part, made when it is first asked for. */
  of(name: string): Logger
  /** In order of name. */
  names(): string[]
  /** From now on the part prints events of this level and above; `silent`: none. @param name - `*`: every part, later ones too */
  setLevel(name: string, level: LogEventLevel | 'silent'): void
}

/** One write of a {@link KeyValueStore.batch}. */
export type KeyValueOp =
  | { readonly op: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly op: 'delete'; readonly key: Uint8Array }

/**
 * An ordered store of byte strings under byte strings of 1 to {@link MAX_STORE_KEY_BYTES} bytes.
 * Reads see every earlier write of this process at once. A write outlives the process, even when it is killed, when
 * it returns; it outlives a loss of power only after `flush`.
 */
export interface KeyValueStore {
  /** The value, owned by the caller; undefined when there is none. */
  get(key: Uint8Array): Uint8Array | undefined
  has(key: Uint8Array): boolean
  /** The store keeps no reference to either array. */
  put(key: Uint8Array, value: Uint8Array): void
  /** Nothing happens when there is no such key. */
  delete(key: Uint8Array): void
  /** Keys that start with `prefix` (default: all), in lexicographic order. Writes during the walk may or may not be seen. */
  keys(prefix?: Uint8Array): Iterable<Uint8Array>
  /** All of `ops` in order, or none of them. */
  batch(ops: readonly KeyValueOp[]): void
  /**
   * The same, on stable storage when it resolves; until then reads may or may not find it. When it rejects, none of it is there.
   * The caller's thread does not wait for the disk, where a store can do without.
   *
   * Writes to one key count in the order of their calls: what is put or deleted while a commit of the same key is under way stands when
   * the commit resolves, and of two commits the later one.
   */
  commit(ops: readonly KeyValueOp[]): Promise<void>
  /**
   * Why nothing can be written now, without writing anything; undefined: nothing is known to be in the way. Absent: the store
   * cannot tell.
   */
  whyUnwritable?(): string | undefined
  /** Resolves when every earlier write is on stable storage. */
  flush(): Promise<void>
  /** Flushes and gives the store up; every later call throws. */
  close(): Promise<void>
}

/** One end of a channel to another thread. Messages arrive whole and in order. */
export interface BytePort {
  /** Gives `message` away: the sender must not use it, nor another view of its buffer, any more. */
  post(message: Uint8Array): void
  /** Called once, before the first message can arrive. The listener owns what it gets. */
  onMessage(listener: (message: Uint8Array) => void): void
}

/** The end of a channel that is in the thread. */
export interface ThreadPort extends BytePort {
  /** Whether nobody waits any more for the answers to the messages that came so far; cheap enough to be asked every microsecond. */
  isGivenUp?(): boolean
  /** For what is too much to be kept until the answer. Absent: all of it goes with the answer. */
  readonly parts?: PartSender
  /** Asks the other side in the midst of an answer, and waits, in this turn of the loop. undefined: it does not know. Absent: it cannot be asked. */
  ask?(question: Uint8Array): Uint8Array | undefined
}

/** Sends parts of an answer ahead of it. */
export interface PartSender {
  /** As {@link BytePort.post}. */
  post(message: Uint8Array): void
  /** How many of them the other side has put where this thread can read it. */
  taken(): number
  /** Waits, in this turn of the loop, until it has one more than so many. */
  awaitMore(taken: number): void
}

/**
 * A thread that was started, seen from outside. It answers each message with exactly one; while an answer is due it keeps
 * the process alive, otherwise it does not.
 */
export interface WorkerPort extends BytePort {
  /** Tells the thread, in the midst of its work, that nobody waits for the answers to what was posted so far. Absent: it cannot be told. */
  giveUp?(): void
  /** Whether it still loads its program: what it was asked waits for that. Absent: nobody knows. */
  isStarting?(): boolean
  /**
   * Called once, before the first message can arrive. Hears of parts of answers, each before the answer; when what the listener gives
   * resolves, the thread can read what was in it. It must end the thread where it cannot take one. Absent: there are none.
   */
  onPart?(listener: (message: Uint8Array) => Promise<void>): void
  /** Called once, before the first message can arrive. The listener is asked in the midst of an answer, and waited for. Absent: nothing is asked. */
  onAsk?(listener: (question: Uint8Array) => Promise<Uint8Array | undefined>): void
  /** Called once. The listener hears of an end that was not asked for; `reason` is what the thread died of, if known. */
  onEnd(listener: (reason: unknown) => void): void
  /** Ends the thread at once, whatever it does. Nothing is heard of it afterwards. */
  close(): void
}

/** Longest key of a {@link KeyValueStore}, bytes (LMDB's limit with its default page size is 1,978). */
export const MAX_STORE_KEY_BYTES: number = 1024
