/** The machine's side of its thread: answers one question after the other. */

import { MemoryStore } from '../base/memoryStore.ts'
import type { Logger, ThreadPort } from '../base/ports.ts'
import { ChainStore } from '../chain/chainStore.ts'
import { ChainError } from '../chain/errors.ts'
import { MAX_THREAD_BLOCK_BYTES } from '../chain/limits.ts'
import type { VmHost, VmResult } from '../chain/vm.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import type { Network } from '../networks/network.ts'
import { ToldOf } from './priorMessages.ts'
import { ThreadBlocks } from './threadBlocks.ts'
import { plainError } from './vmErrors.ts'
import {
  answerToBytes,
  questionFromBytes,
  type ToldCall,
  type VmAnswer,
  type VmQuestion,
  type VmStart,
} from './vmMessages.ts'

/** What a thread is made of. */
export interface VmServerDeps {
  /** Blocks that the thread can read by itself; undefined: all are sent to it. */
  readonly blocks: Blockstore | undefined
  /**
   * The machine over a chain whose head is its genesis: executing needs no head. `store.blocks` throws `BlockMissing`.
   * `checkpoint` is to be called all the time while executing: it throws when nobody waits any more.
   */
  readonly createHost: (store: ChainStore, network: Network, checkpoint: () => void) => VmHost
  readonly log: Logger
  /** Of blocks that it was sent or made, bytes. Default {@link MAX_THREAD_BLOCK_BYTES}. */
  readonly maxBlockBytes?: number
}

interface Opened {
  readonly host: VmHost
  readonly store: ChainStore
}

class VmServer {
  readonly #port: ThreadPort
  readonly #deps: VmServerDeps
  readonly #blocks: ThreadBlocks
  #start: VmStart | undefined
  #opened: Opened | undefined
  readonly #told = new ToldOf()
  readonly #checkpoint = (): void => {
    if (this.#port.isGivenUp?.() === true) throw new ChainError('CANCELLED', 'Cannot execute: nobody waits for it')
  }

  constructor(port: ThreadPort, deps: VmServerDeps) {
    this.#port = port
    this.#deps = deps
    this.#blocks = new ThreadBlocks({
      base: deps.blocks,
      maxBytes: deps.maxBlockBytes ?? MAX_THREAD_BLOCK_BYTES,
      checkpoint: this.#checkpoint,
      parts: port.parts,
      ask: (cid) => port.ask?.(cid.bytes.slice()),
    })
  }

  async answer(bytes: Uint8Array): Promise<void> {
    let answer: VmAnswer
    try {
      const question = questionFromBytes(bytes)
      answer = { ok: true, result: await this.#run(question), written: this.#blocks.takeWritten() }
    } catch (error) {
      // What a run wrote that did not finish, the next run writes again.
      this.#blocks.takeWritten()
      answer = { ok: false, error: plainError(error) }
    }
    this.#port.post(encoded(answer))
  }

  #run(question: VmQuestion): Promise<VmResult> {
    // First of all: what is told is told once, also where blocks turn out to be missing.
    const call = this.#whole(question)
    this.#start = question.start ?? this.#start
    for (const [cid, data] of question.blocks) this.#blocks.give(cid, data)
    this.#blocks.asks = question.asks
    this.#blocks.setAbsent([...(this.#start?.absent ?? []), ...question.absent])
    // Here, not when the question arrives: the genesis block may have to be asked for as well.
    this.#opened ??= this.#open()
    const { host, store } = this.#opened
    return host.run({ ...call, tipset: store.tipset(call.tipset) })
  }

  /** The call with the messages before it. */
  #whole({ call, prior }: VmQuestion): ToldCall {
    if (prior === null || call.method !== 'callWithGas') return call
    return { ...call, options: { ...call.options, priorMessages: this.#told.messages(prior) } }
  }

  #open(): Opened {
    if (this.#start === undefined)
      throw new ChainError('NO_GENESIS', 'Cannot execute: the thread was not told which chain')
    const { network, genesis } = this.#start
    const store = new ChainStore({ blocks: this.#blocks, meta: new MemoryStore(), log: this.#deps.log })
    store.setGenesis(store.header(genesis))
    this.#blocks.takeWritten()
    return { store, host: this.#deps.createHost(store, network, this.#checkpoint) }
  }
}

/** An answer that cannot be sent is a failure, not a silence. */
function encoded(answer: VmAnswer): Uint8Array {
  try {
    return answerToBytes(answer)
  } catch (error) {
    return answerToBytes({ ok: false, error: { ...plainError(error), info: {} } })
  }
}

/** Serves a machine on a port until the thread ends. */
export function serveVm(port: ThreadPort, deps: VmServerDeps): void {
  const server = new VmServer(port, deps)
  let queue: Promise<void> = Promise.resolve()
  port.onMessage((message) => {
    queue = queue.then(() => server.answer(message))
  })
}
