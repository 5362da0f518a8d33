/** What is alive on the heaps of a Node that was started with {@link INSPECTED}, and what they point to, garbage not among it. */
import type { NodeProcess } from '../runtimes/nodeProcess.ts'

/** For the environment of a node whose heaps are looked at. Its inspector listens on loopback, on a free port. */
export const INSPECTED: Readonly<Record<string, string>> = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }

/** A process's heaps, the main thread's and those of the machine's threads. */
export interface Heaps {
  /** Objects, bytes, after a collection. */
  readonly heap: number
  /** What they point to outside of the heap (bytes of arrays, compiled Wasm), bytes. */
  readonly external: number
}

/** A message of the inspector. */
export interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly params?: { readonly sessionId: string; readonly message: string }
}

type Call = (method: string, params?: object) => Promise<unknown>

/** Numbers the calls of a session. */
export class Session {
  readonly #waiting = new Map<number, (result: unknown) => void>()
  readonly #send: (text: string) => void
  #last = 0
  #isOver = false

  constructor(send: (text: string) => void) {
    this.#send = send
  }

  readonly call: Call = (method, params = {}) =>
    new Promise((resolve) => {
      if (this.#isOver) return resolve(undefined)
      const id = ++this.#last
      this.#waiting.set(id, resolve)
      this.#send(JSON.stringify({ id, method, params }))
    })

  answered({ id, result }: Message): void {
    if (id === undefined) return
    this.#waiting.get(id)?.(result)
    this.#waiting.delete(id)
  }

  /** Nobody answers any more: neither what was asked, nor what will be. */
  end(): void {
    this.#isOver = true
    for (const resolve of this.#waiting.values()) resolve(undefined)
  }
}

/** Asks for a collection of one heap. */
export const COLLECT = 'HeapProfiler.collectGarbage'

async function collected(call: Call): Promise<Heaps | undefined> {
  await call(COLLECT)
  const expression = '(({ heapUsed: heap, external }) => ({ heap, external }))(process.memoryUsage())'
  const answer = (await call('Runtime.evaluate', { expression, returnByValue: true })) as
    | { result: { value: Heaps } }
    | undefined
  return answer?.result.value
}

/** Of several heaps. A thread that ended meanwhile has none. */
export function sum(heaps: readonly (Heaps | undefined)[]): Heaps {
  let [heap, external] = [0, 0]
  for (const one of heaps) {
    heap += one?.heap ?? 0
    external += one?.external ?? 0
  }
  return { heap, external }
}

/** Connects for one look: a session that stays open would keep what it was told of. */
export async function liveHeaps(node: NodeProcess): Promise<Heaps> {
  // The last one: a node begins anew with what it has to know of its memory.
  const url = [...node.output().matchAll(/Debugger listening on (ws:\S+)/g)].at(-1)?.[1] as string
  const socket = new WebSocket(url)
  const main = new Session((text) => socket.send(text))
  const threads = new Map<string, Session>()
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    const { method, params } = message
    if (params === undefined) main.answered(message)
    else if (method === 'NodeWorker.attachedToWorker') {
      const { sessionId } = params
      const send = (inner: string) => void main.call('NodeWorker.sendMessageToWorker', { sessionId, message: inner })
      threads.set(sessionId, new Session(send))
    } else if (method === 'NodeWorker.receivedMessageFromWorker') {
      threads.get(params.sessionId)?.answered(JSON.parse(params.message) as Message)
    } else if (method === 'NodeWorker.detachedFromWorker') {
      threads.get(params.sessionId)?.end()
      threads.delete(params.sessionId)
    }
  }
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`no inspector at ${url}`))
  })
  await main.call('NodeWorker.enable', { waitForDebuggerOnStart: false })
  const heaps = await Promise.all([main, ...threads.values()].map(({ call }) => collected(call)))
  socket.close()
  return sum(heaps)
}
