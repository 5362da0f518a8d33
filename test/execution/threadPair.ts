/** A machine's thread that is none: both ends in this one, messages handed over by microtasks. */
import type { Timers, WorkerPort } from '../../src/base/ports.ts'
import { type VmCall, type VmHost, type VmResult, vmHost } from '../../src/chain/vm.ts'
import { serveVm, type VmServerDeps } from '../../src/execution/vmServer.ts'

/** A thread that was started, with what happens to threads. */
export interface FakeThread extends WorkerPort {
  readonly isClosed: boolean
  /** What it says of itself. */
  isSlowToStart: boolean
  /** How often it waited for parts of its answers to be taken. */
  readonly waits: number
  /** It dies. */
  die(reason: unknown): void
}

/** Starts one. Messages are copied, as a real one's buffers change hands. */
export function startFakeThread(deps: VmServerDeps): FakeThread {
  let closed = false
  let posted = 0
  let givenUp = 0
  let toServer: (message: Uint8Array) => void = () => undefined
  let toNode: (message: Uint8Array) => void = () => undefined
  let onEnd: (reason: unknown) => void = () => undefined
  let onPart: (message: Uint8Array) => Promise<void> = () => Promise.resolve()
  let taken = 0
  let waits = 0
  const send = (take: () => (message: Uint8Array) => void, message: Uint8Array): void => {
    const copy = message.slice()
    message.fill(0xff)
    queueMicrotask(() => {
      if (!closed) take()(copy)
    })
  }
  serveVm(
    {
      post: (message) => send(() => toNode, message),
      onMessage: (listener) => {
        toServer = listener
      },
      isGivenUp: () => givenUp === posted,
      // Nobody else has a turn while it executes: a part is taken when it is sent, and said to be when that is waited for.
      parts: {
        post: (message) => void onPart(message.slice()),
        taken: () => taken,
        awaitMore: (before) => {
          waits++
          taken = before + 1
        },
      },
    },
    deps,
  )
  return {
    get isClosed() {
      return closed
    },
    get waits() {
      return waits
    },
    isSlowToStart: false,
    giveUp: () => {
      givenUp = posted
    },
    isStarting(this: FakeThread) {
      return this.isSlowToStart
    },
    post: (message) => {
      posted++
      send(() => toServer, message)
    },
    onMessage: (listener) => {
      toNode = listener
    },
    onPart: (listener) => {
      onPart = listener
    },
    onEnd: (listener) => {
      onEnd = listener
    },
    close: () => {
      closed = true
    },
    die: (reason) => {
      if (closed) return
      closed = true
      onEnd(reason)
    },
  }
}

/** What is set goes off when the test says so. */
export class HandTimers implements Timers {
  readonly #due = new Set<() => void>()

  setTimeout(run: () => void): () => void {
    const own = (): void => run()
    this.#due.add(own)
    return () => void this.#due.delete(own)
  }

  pass(): void {
    for (const run of [...this.#due]) if (this.#due.delete(run)) run()
  }
}

/** A machine that has some methods, each as {@link VmHost} has it. */
export function machineOf(methods: Partial<VmHost>): VmHost {
  return vmHost(async (call) => answerOf(methods as VmHost, call))
}

function answerOf(methods: VmHost, call: VmCall): Promise<VmResult> {
  const { method, tipset } = call
  if (method === 'compute') return methods.compute(tipset, call.vmHeight, call.messages)
  if (method === 'replay') return methods.replay(tipset, call.message)
  if (method === 'call') return methods.call(call.message, tipset)
  if (method === 'callWithGas') return methods.callWithGas(call.message, tipset, call.options)
  return methods[method](tipset)
}
