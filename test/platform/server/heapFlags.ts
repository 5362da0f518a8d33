/**
 * Prints what a node and a thread of its reads set of V8's flags, a line for each: V8, the process's memory and the thread are none, and
 * nobody waits for a second to be over. As a program, for a process of its own: a test runs in a thread.
 */
import { EventEmitter } from 'node:events'
import { registerHooks } from 'node:module'
import { isMainThread, Worker } from 'node:worker_threads'

/** What stands in for Node's modules, by who imports them. */
const INSTEAD: Readonly<Record<string, string>> = {
  'sparingHeap.ts node:v8': 'export const setFlagsFromString = (flag) => console.log(flag)',
  'sparingHeap.ts node:fs': "export const readFileSync = () => 'RssAnon:   200000 kB'",
  'readers.ts node:worker_threads': 'export const Worker = globalThis.ReadThread',
}

registerHooks({
  resolve: (name, context, next) => {
    const asked = `${context.parentURL?.split('/').at(-1)} ${name}`
    return asked in INSTEAD ? { url: `instead:${asked}`, shortCircuit: true } : next(name, context)
  },
  load: (url, context, next) => {
    const source = INSTEAD[decodeURI(url.replace('instead:', ''))]
    return source === undefined ? next(url, context) : { format: 'module', shortCircuit: true, source }
  },
})

const threads: EventEmitter[] = []
class ReadThread extends EventEmitter {
  constructor() {
    super()
    threads.push(this)
    setImmediate(() => this.emit('message', { kind: 'listens' }))
  }
  unref(): void {}
  postMessage(): void {}
}
Object.assign(globalThis, { ReadThread })

const { holdLittle, hurryWhileFar, spareHeap, spareWhileMuch } = await import('../../../platform/server/sparingHeap.ts')

async function threadThatSendsList(): Promise<void> {
  console.log('a list in a thread')
  await new Promise((resolve) => new Worker(new URL(import.meta.url)).on('exit', resolve))
}

async function threadThatAnswers(): Promise<void> {
  const { Readers } = await import('../../../platform/server/readers/readers.ts')
  const { SharedCounts } = await import('../../../platform/server/readers/sharedCounts.ts')
  const looks: (() => void)[] = []
  Object.assign(globalThis, { setInterval: (look: () => void) => ({ unref: () => looks.push(look) }) })
  Object.assign(performance, { eventLoopUtilization: () => ({ utilization: 1 }) })
  spareWhileMuch()
  const [lookAtMemory] = looks as [() => void]
  const started = Promise.withResolvers<void>()
  const silent = (): void => undefined
  const readers = new Readers({
    ...{ places: {}, counts: SharedCounts.create(), sizes: {}, most: 1, hasIndex: false, http: {} },
    log: { debug: silent, info: () => started.resolve(), warn: (_: string, info: unknown) => started.reject(info) },
    node: {
      view: { store: { onHeadChange: silent, genesis: () => ({ key: [] }), head: () => ({ blocks: [] }) } },
      tokens: { onRevoked: silent },
      handler: { maxRequestBytes: 1 },
    },
  } as never)
  readers.begin({ host: '', port: 0 } as never)
  const lookAtBusy = looks.at(-1) as () => void
  for (let i = 0; i < 2; i++) {
    for (let asked = 0; asked < 200; asked++) readers.asked({} as never)
    lookAtBusy()
  }
  await started.promise
  console.log('few requests')
  lookAtMemory()
  console.log('many requests in a thread')
  threads[0]?.emit('message', { kind: 'called', calls: new Map([['ChainHead', new Float64Array(3000)]]) })
  lookAtMemory()
  let epochsLeft = 19
  hurryWhileFar(() => epochsLeft)
  console.log('few requests, near the head')
  lookAtMemory()
  console.log('far below it')
  epochsLeft = 20
  lookAtMemory()
}

if (isMainThread) {
  holdLittle()
  await threadThatSendsList()
  await threadThatAnswers()
  process.exit()
} else {
  spareHeap()()
}
