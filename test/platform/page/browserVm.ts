/** Runs in a page: a local chain whose machine is in a Web Worker; says what it found in `globalThis.outcome`. */
import { startVmWorker } from '../../../platform/browser/startVmWorker.ts'
import { browserTimers } from '../../../platform/browser/time.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { WorkerVmHost } from '../../../src/execution/workerVmHost.ts'
import { devnetNode, signedBy } from '../../support/devnetNode.ts'

async function run(): Promise<Record<string, unknown>> {
  await initCrypto()
  const node = devnetNode({ accountsPerKind: 2 })
  const [sender, receiver] = node.plan.accounts
  if (sender === undefined || receiver === undefined) throw new Error('no accounts')
  node.pending.push(signedBy(sender, { to: receiver.address, value: 5n }))
  const tipset = await node.devnet.mine(1)
  const own = await node.vm.tipsetState(tipset)
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const worker = new WorkerVmHost({
    view: node.view,
    threads: 1,
    timers: browserTimers,
    log: silent,
    startThread: () => startVmWorker(new URL('./vmWorker.js', import.meta.url), { mode: 'native' }),
  })
  // The page answers while the worker executes.
  let ticks = 0
  const timer = setInterval(() => ticks++, 0)
  const theirs = await worker.executeTipset(tipset)
  const { trace } = await worker.compute(tipset, tipset.height, [])
  clearInterval(timer)
  const controller = new AbortController()
  const cancelled = worker.compute(tipset, tipset.height, [], controller.signal).then(
    () => 'finished',
    (error: { code?: string }) => error.code,
  )
  controller.abort()
  const code = await cancelled
  worker.close()
  return {
    equal: theirs.stateRoot.equals(own.stateRoot) && theirs.receiptsRoot.equals(own.receiptsRoot),
    messages: trace.length,
    ticks,
    code,
  }
}

run().then(
  (outcome) => Object.assign(globalThis, { outcome }),
  (error: unknown) => Object.assign(globalThis, { outcome: { failed: String((error as Error).stack) } }),
)
