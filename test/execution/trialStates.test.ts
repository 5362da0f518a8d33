/** Calls after pending messages: the states that a machine keeps between them change no answer. */
import { expect, it } from 'vitest'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import type { ChainMessage } from '../../src/types/chainMessage.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { sharedMissing } from '../support/shared.ts'

const ROUNDS = 24
/** Tipsets at least whose messages are pending. */
const LATER = 60

it.skipIf(sharedMissing)('senders that take turns get what a machine that keeps nothing gives', async ({ skip }) => {
  const { view, executes } = openRecordedView('nv28')
  if (!executes) skip('the actors of the chain are not on this machine')
  const random = seeded('trials')
  const deps = { view, proofs: acceptAllProofs, codeLoaders: createCodeLoaders({ blocks: view.store.blocks }) }
  // On the tipset with most messages those of later tipsets are pending.
  const all: { tipset: Tipset; messages: readonly ChainMessage[] }[] = []
  for (let tipset = view.store.head(); tipset.height > 0; tipset = view.store.parent(tipset)) {
    all.push({ tipset, messages: view.tipsetMessages(tipset) })
  }
  const from = all.slice(LATER).reduce((most, one) => (one.messages.length > most.messages.length ? one : most))
  const { tipset } = from
  const later = all.slice(0, all.indexOf(from)).reverse()
  const queues = new Map<string, ChainMessage[]>()
  for (const one of later.flatMap(({ messages }) => messages)) {
    const sender = one.message.from.toString('t')
    queues.set(sender, [...(queues.get(sender) ?? []), one])
  }
  const senders = [...queues.values()]
  expect(senders.length).toBeGreaterThan(1)

  const keeping = new LocalVmHost(deps)
  const exits = new Set<number>()
  for (let i = 0; i < ROUNDS; i++) {
    const queue = senders[random.int(senders.length)] as ChainMessage[]
    const length = random.int(queue.length)
    const { message } = queue[length] as ChainMessage
    const options = {
      priorMessages: queue.slice(0, length),
      tipsetMessages: 'all',
      skipSenderValidation: false,
      tracing: i % 2 === 0,
    } as const
    const ask = (host: LocalVmHost): Promise<unknown> =>
      host.callWithGas(message, tipset, options).catch((error: unknown) => String(error))
    const expected = await ask(new LocalVmHost(deps))
    expect(await ask(keeping)).toEqual(expected)
    if (typeof expected === 'object') exits.add((expected as { msgRct: { exitCode: number } }).msgRct.exitCode)
  }
  expect(exits).toContain(0)
})
