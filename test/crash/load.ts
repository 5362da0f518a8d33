/** What a node is asked while it is killed: it takes sends, makes keys, and tells of heads and of what is final. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeClient } from '../runtimes/nodeHost.ts'
import type { CrashModel } from './model.ts'

/** A load that goes on. */
export interface Load {
  stop(): void
  readonly done: Promise<unknown>
}

/**
 * Load of every kind until it is stopped: each error after the kill is as it should be.
 * @param more - done again and again, too
 */
export function startLoad(
  client: NodeClient,
  model: CrashModel,
  senders: readonly string[],
  more: readonly (() => Promise<unknown>)[] = [],
): Load {
  let isOn = true
  const repeat = async (work: () => Promise<unknown>): Promise<void> => {
    while (isOn) await work().catch(() => sleep(5))
  }
  const work = [
    ...senders.map((from) => () => model.send(client, from, randomUUID())),
    () => model.seeHead(client),
    async () => {
      await model.seeFinality(client)
      await sleep(20)
    },
    async () => {
      await model.keys.make(client)
      await sleep(50)
    },
    ...more,
  ]
  return { stop: () => (isOn = false), done: Promise.all(work.map(repeat)) }
}
