/**
 * What a node does, seen from outside: over HTTP, or over a message port of the tab. The same steps in every runtime; they
 * build on each other, on one local chain that makes blocks only when it is told to.
 */
import assert from 'node:assert/strict'
import { ACCESS_STEPS } from './accessSteps.ts'
import { END_STEPS } from './endSteps.ts'
import { FIRST_STEPS } from './firstSteps.ts'
import { MESSAGE_STEPS } from './messageSteps.ts'
import type { NodeHost } from './nodeHost.ts'
import { TRANSFER_STEPS } from './transferSteps.ts'
import type { Step, World } from './world.ts'

/** All steps, in order. */
export const STEPS: readonly Step[] = [
  ...FIRST_STEPS,
  ...TRANSFER_STEPS,
  ...MESSAGE_STEPS,
  ...ACCESS_STEPS,
  ...END_STEPS,
]

/** A fresh node for the steps. */
export async function openWorld(host: NodeHost): Promise<World> {
  const node = await host.start()
  return { host, node, rpc: node.client(node.token), funded: '', fresh: '', sent: undefined }
}

/** Ends what the steps left. */
export async function closeWorld(world: World): Promise<void> {
  await world.node.kill()
  await world.host.dispose()
}

/** The default command: blocks by the clock, the first one within 3 s. */
export async function firstTipset(host: NodeHost): Promise<{ readonly ms: number; readonly startMs: number }> {
  const started = performance.now()
  const node = await host.start()
  try {
    const rpc = node.client()
    while ((await rpc.call('ChainHead')).Height < 1) {
      assert.equal(performance.now() - started < 30_000, true, 'no tipset in 30 s')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return { ms: performance.now() - started, startMs: node.startMs }
  } finally {
    await node.kill()
    await host.dispose()
  }
}
