/** Events of a tipset are written as it is executed for the chain; an execution that somebody listens to, for traces, writes none. */
import { beforeAll, expect, it } from 'vitest'
import type { Cid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type ExecutionDeps, executeTipset, type MessageListener } from '../../src/execution/executeTipset.ts'
import type { CodeLoader } from '../../src/fvm/kernel/kernel.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { OverlayBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { actorEvent } from '../../src/types/event.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { GENESIS_TIMESTAMP, signedBy } from '../support/devnetNode.ts'
import { createWorld } from '../sync/world.ts'

beforeAll(async () => void (await initCrypto()))

const EMITS = 77n
const EVENTS = 100

/** Accounts have one method more, which emits. */
const actors = (own: CodeLoader): CodeLoader => {
  const account = manifestFor(builtinNetwork('devnet'), 18)?.actors.get('account')
  const header = { flags: 3n, codec: 0x55n, keyLength: 1, valueLength: 1000 }
  return (code) => {
    const found = own(code)
    if (found === undefined || account?.equals(code) !== true) return found
    return {
      invoke: (kernel, params) => {
        if (kernel.messageContext().method !== EMITS) return found.invoke(kernel, params)
        for (let i = 0; i < EVENTS; i++) kernel.emitEvent([header], Uint8Array.of(0x61), new Uint8Array(1000).fill(i))
        return 0
      },
    }
  }
}

it('keeps events where nobody listens', async () => {
  const world = createWorld(1, undefined, { actors })
  const { view, node } = world
  const [account] = node.plan.accounts
  if (account === undefined) throw new Error('no account')
  const draft = { to: account.address, value: 0n, method: EMITS, gasLimit: 2_000_000_000n, nonce: 0n }
  const tipset = await world.tipset(world.genesis, { messages: [signedBy(account, draft)] })
  const run = (listener?: MessageListener): { eventsRoot: Cid; store: OverlayBlockstore } => {
    const store = new OverlayBlockstore(view.store.blocks)
    const none = (): never => {
      throw new Error('not asked')
    }
    const deps: ExecutionDeps = {
      network: world.network,
      genesisTimestamp: GENESIS_TIMESTAMP,
      store,
      externs: {
        chainRandomness: () => new Uint8Array(32),
        beaconRandomness: () => new Uint8Array(32),
        tipsetCid: none,
        verifyConsensusFault: none,
      },
      proofs: acceptAllProofs,
      loadCode: world.native as CodeLoader,
    }
    const input = {
      tipset,
      parentEpoch: view.store.parent(tipset).height,
      parentState: firstBlock(tipset).parentStateRoot,
      messages: tipset.blocks.map((block) => view.blockMessages(block)),
      tracing: false,
    }
    const receipt = executeTipset(deps, input, listener)?.receipts[0]
    return { eventsRoot: receipt?.eventsRoot as Cid, store }
  }
  const chain = run()
  const events = Amt.load(chain.store, chain.eventsRoot, actorEvent, { bitWidth: 5 }).values()
  expect(events.map(({ entries }) => entries[0]?.value[0])).toEqual(Array.from({ length: EVENTS }, (_, i) => i))
  const traced = run(() => false)
  expect(traced.eventsRoot).toEqual(chain.eventsRoot)
  expect(traced.store.has(traced.eventsRoot)).toBe(false)
  // Four leaves and the root.
  expect(chain.store.size - traced.store.size).toBe(5)
})
