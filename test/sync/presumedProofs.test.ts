/**
 * A follower without keys of a chain on which a storage proof fails: it presumes that the proof holds, and is told otherwise by the receipts
 * that the next block claims. A block is never remembered as bad for what was presumed.
 */
import { beforeAll, expect, it } from 'vitest'
import type { WorkerPort } from '../../src/base/ports.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { type VmHost, vmHost } from '../../src/chain/vm.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { fetchingVmHost } from '../../src/execution/fetchingVmHost.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { receiptsTold } from '../../src/execution/receiptsTold.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { VmError } from '../../src/fvm/errors.ts'
import type { CodeLoader } from '../../src/fvm/kernel/kernel.ts'
import { ActorExit } from '../../src/fvm/kernel/outcomes.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { ReceiptProofs } from '../../src/fvm/receiptProofs.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { tryGetBlock } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { BaseResults } from '../../src/sync/baseResults.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { startFakeThread } from '../execution/threadPair.ts'
import { signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import {
  createFollower,
  type Follower,
  headName,
  RecordedSource,
  realTimers,
  settled,
  withMessages,
} from './follower.ts'
import { createWorld, type World } from './world.ts'

beforeAll(async () => void (await initCrypto()))

const ASKS_FOR_PROOF = 77n
const PROOF_FAILED = 33

/** A WindowPoStVerifyInfo without sectors. */
function postInfo(): Uint8Array {
  const writer = new CborWriter()
  writer.array(4)
  writer.bytes(new Uint8Array(32))
  writer.array(1)
  writer.array(2)
  // V1_1 of 2 KiB.
  writer.uint(10)
  writer.bytes(new Uint8Array(192))
  writer.array(0)
  writer.uint(1)
  return writer.finish()
}

/** Accounts have one method more, which has a proof verified. */
const actors = (own: CodeLoader): CodeLoader => {
  const account = manifestFor(builtinNetwork('devnet'), 18)?.actors.get('account')
  return (code) => {
    const found = own(code)
    if (found === undefined || account?.equals(code) !== true) return found
    return {
      invoke: (kernel, params) => {
        if (kernel.messageContext().method !== ASKS_FOR_PROOF) return found.invoke(kernel, params)
        if (!kernel.verifyPost(postInfo())) throw new ActorExit(PROOF_FAILED, 'the proof does not hold')
        return 0
      },
    }
  }
}

/** Two tipsets of messages that ask for a proof, which fails, and one on top. */
async function chainWithFailedProofs(): Promise<{ world: World; chain: Tipset[] }> {
  const world = createWorld(2, undefined, { proofs: { ...acceptAllProofs, verifyWindowPoSt: () => false }, actors })
  const account = world.node.plan.accounts[0] as FundedAccount
  const draft = { to: account.address, value: 0n, method: ASKS_FOR_PROOF, gasLimit: 2_000_000_000n }
  const asking = (nonce: bigint) => signedBy(account, { ...draft, nonce })
  const first = await world.tipset(world.genesis, { messages: [asking(0n)] })
  const second = await world.tipset(first, { messages: [asking(1n)] })
  return { world, chain: [first, second, ...(await world.chain(second, 2))] }
}

/** A machine in a thread, without keys, whose node fetches what it lacks. */
function keyless(world: World, view: ChainView, has: (cid: Cid) => boolean): VmHost {
  const { store } = view
  const startThread = (): WorkerPort =>
    startFakeThread({
      blocks: store.blocks,
      log: silentLog,
      createHost: (own, network, checkpoint) => {
        const codeLoaders = createCodeLoaders({
          blocks: own.blocks,
          ...(world.native === undefined ? {} : { native: world.native }),
        })
        const ownView = new ChainView({ store: own, network, beaconRound: mockBeacon.roundAt })
        return new LocalVmHost({ view: ownView, proofs: new ReceiptProofs(), codeLoaders, checkpoint })
      },
    })
  const inner = new WorkerVmHost({ view, threads: 1, timers: realTimers, log: silentLog, startThread })
  const peers = new BlockFetcher(store.blocks, [
    {
      fetch: async (cids) =>
        cids.flatMap((cid) => {
          const data = has(cid) ? tryGetBlock(world.view.store.blocks, cid) : undefined
          return data === undefined ? [] : [[cid, data] as const]
        }),
    },
  ])
  return fetchingVmHost(new CachingVmHost(store, receiptsTold(store, inner)), peers.run)
}

async function followed(
  world: World,
  chain: readonly Tipset[],
  has: (cid: Cid) => boolean,
): Promise<{ follower: Follower; vm: VmHost; rechecks: number }> {
  const source = new RecordedSource(world.view)
  let vm: VmHost | undefined
  let rechecks = 0
  const follower = createFollower(world, {
    mode: 'execute',
    source,
    vm: (_, view) => {
      const own = keyless(world, view, has)
      vm = own
      return vmHost((call, signal) => {
        if (call.method === 'recheckTipset') rechecks++
        return own.run(call, signal)
      })
    },
  })
  follower.syncer.offerTipset('peer', withMessages(world.view, chain.at(-1) as Tipset))
  await settled(follower.syncer)
  return { follower, vm: vm as VmHost, rechecks }
}

it('is followed all the same, and its traces are those of the chain', async () => {
  const { world, chain } = await chainWithFailedProofs()
  const { follower, vm, rechecks } = await followed(world, chain, () => true)
  const head = chain.at(-1) as Tipset
  expect(headName(follower.store)).toBe(`${head.height} ${head.key.join(' ')}`)
  // Once for each tipset whose proof fails, however many blocks are on top of it.
  expect([rechecks, chain[1]?.blocks.length]).toEqual([2, 2])
  for (const tipset of chain.slice(0, 2)) {
    const { root, trace } = await vm.compute(tipset, tipset.height, [])
    const claimed = firstBlock(chain[chain.indexOf(tipset) + 1] as Tipset)
    expect(root.equals(claimed.parentStateRoot)).toBe(true)
    expect(trace.filter(({ msgRct }) => msgRct.exitCode === PROOF_FAILED)).toHaveLength(1)
  }
  await follower.syncer.stop()
})

it('makes no block bad where its receipts cannot be had, and says what to do', async () => {
  const { world, chain } = await chainWithFailedProofs()
  const receipts = new Set(chain.map((tipset) => firstBlock(tipset).parentMessageReceipts.key))
  const { follower } = await followed(world, chain, (cid) => !receipts.has(cid.key))
  expect(follower.store.head().height).toBeLessThanOrEqual(firstBlock(chain[0] as Tipset).height)
  for (const { blocks } of chain)
    for (const block of blocks) expect(follower.syncer.whyBad(headerCid(block))).toBeUndefined()
  const said = follower.syncer.state().activeSyncs.map(({ message }) => message)
  expect(said.join()).toContain('petrel proofs fetch')
  await follower.syncer.stop()
})

it('a block that lies about such a tipset is bad', async () => {
  const { world, chain } = await chainWithFailedProofs()
  const { parentStateRoot } = firstBlock(chain[3] as Tipset)
  const liar = world.changed(firstBlock(chain[1] as Tipset), { parentStateRoot })
  const { follower } = await followed(world, chain.slice(0, 1), () => true)
  follower.syncer.offerTipset('peer', withMessages(world.view, createTipset([liar])))
  await settled(follower.syncer)
  expect(follower.syncer.whyBad(headerCid(liar))).toContain('parent state root did not match computed state')
  await follower.syncer.stop()
})

it('says nothing of a block whose receipts do not tell which proofs failed', async () => {
  const base = createWorld(1).genesis
  const undecided = new VmError('UNDECIDED_PROOF', 'Cannot decide proofs')
  const vm = { recheckTipset: () => Promise.reject(undecided) } as unknown as VmHost
  const { parentStateRoot, parentMessageReceipts } = firstBlock(base)
  const before = { stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts, presumesProofs: true as const }
  const judged = new BaseResults(vm, realTimers, () => Promise.resolve(0)).again(
    base,
    new AbortController().signal,
    before,
    { parentMessageReceipts },
  )
  await expect(judged).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE', cause: undecided })
})
