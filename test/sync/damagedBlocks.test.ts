/**
 * A flipped bit in a stored block: whatever comes of it, no block is remembered as bad, and no peer is reported; either the
 * chain is followed all the same, or what is said names the damaged block.
 */
import { beforeAll, expect, it } from 'vitest'
import type { WorkerPort } from '../../src/base/ports.ts'
import type { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { getBlock } from '../../src/ipld/blockstore.ts'
import { isBlockLink, walkDag } from '../../src/ipld/walkDag.ts'
import type { Network } from '../../src/networks/network.ts'
import { idAddress } from '../../src/types/address.ts'
import { blockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { CRON_ID, POWER_ID, REWARD_ID } from '../../src/types/singletons.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { startFakeThread } from '../execution/threadPair.ts'
import { signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import {
  createFollower,
  type Follower,
  type FollowerOptions,
  headName,
  RecordedSource,
  realTimers,
  settled,
  withMessages,
} from './follower.ts'
import { createWorld, type World } from './world.ts'

beforeAll(async () => void (await initCrypto()))

/** A chain whose messages read and write accounts. */
async function honestChain(world: World): Promise<Tipset[]> {
  const account = world.node.plan.accounts[0] as FundedAccount
  const messages = [0n, 1n].map((nonce) => signedBy(account, { to: account.address, value: 1n, nonce }))
  const first = await world.tipset(world.genesis, { messages })
  return [first, ...(await world.chain(first, 3))]
}

function stateBlocks(world: World): Cid[] {
  const cids: Cid[] = []
  const { blocks } = world.view.store
  // Native actors have no code.
  const follow = (cid: Cid): boolean => isBlockLink(cid) && blocks.has(cid)
  walkDag(blocks, firstBlock(world.genesis).parentStateRoot, (cid) => cids.push(cid), { follow })
  return cids
}

/** What the follower says of its last way. */
function said({ syncer }: Follower): string {
  return syncer
    .state()
    .activeSyncs.map(({ message }) => message)
    .join('; ')
}

const viewOf = (store: ChainStore, network: Network): ChainView =>
  new ChainView({ store, network, beaconRound: mockBeacon.roundAt })

/** The machine in a thread, which reads the same blocks by itself. */
function threaded({ native }: World): NonNullable<FollowerOptions['vm']> {
  return (_vm, view) => {
    const { store } = view
    const startThread = (): WorkerPort =>
      startFakeThread({
        blocks: store.blocks,
        log: silentLog,
        createHost: (own, network, checkpoint) => {
          const codeLoaders = createCodeLoaders({ blocks: own.blocks, ...(native === undefined ? {} : { native }) })
          return new LocalVmHost({ view: viewOf(own, network), proofs: acceptAllProofs, codeLoaders, checkpoint })
        },
      })
    return new CachingVmHost(
      store,
      new WorkerVmHost({ view, threads: 1, timers: realTimers, log: silentLog, startThread }),
    )
  }
}

/**
 * Offers the chain to a follower in whose store one bit of a block is flipped: it blames nobody.
 * @param heads - gets how many blocks its head has, at the chain's height
 * @returns whether it followed all the same; if not, it has named the block
 */
async function followsDespite(
  world: World,
  chain: readonly Tipset[],
  vm: FollowerOptions['vm'],
  cid: Cid,
  bit: number,
  heads: Set<number> = new Set(),
): Promise<boolean> {
  const source = new RecordedSource(world.view)
  const follower = createFollower(world, { mode: 'execute', source, ...(vm === undefined ? {} : { vm }) })
  const data = getBlock(follower.blocks, cid).slice()
  data[bit >> 3] = (data[bit >> 3] as number) ^ (1 << (bit & 7))
  follower.blocks.put(cid, data)
  const what = `bit ${bit} of ${cid.toString()}`
  const head = chain.at(-1) as Tipset
  follower.syncer.offerTipset('peer', withMessages(world.view, head))
  await settled(follower.syncer)
  for (const { blocks } of chain)
    for (const block of blocks) expect(follower.syncer.whyBad(headerCid(block)), what).toBeUndefined()
  expect(follower.reports, what).toEqual([])
  const followed = headName(follower.store) === `${head.height} ${head.key.join(' ')}`
  if (!followed) expect(said(follower), what).toContain(`Cannot use block ${cid.toString()}: the store is damaged`)
  if (follower.store.head().height === head.height) heads.add(follower.store.head().blocks.length)
  await follower.syncer.stop()
  return followed
}

/** Flips one bit for each of many followers, and offers each of them the chain. */
async function flipBits(world: World, vm: FollowerOptions['vm'], flips: number): Promise<void> {
  const { int } = seeded('flipped bits in state')
  const chain = await honestChain(world)
  const cids = stateBlocks(world)
  const seen = { followed: 0, named: 0 }
  for (let i = 0; i < flips; i++) {
    const cid = cids[int(cids.length)] as Cid
    const bit = int(8 * getBlock(world.view.store.blocks, cid).length)
    if (await followsDespite(world, chain, vm, cid, bit)) seen.followed++
    else seen.named++
  }
  console.log(`${seen.followed} followed, ${seen.named} named`)
  expect(Math.min(seen.followed, seen.named)).toBeGreaterThan(0)
}

it('is blamed on nobody', () => flipBits(createWorld(2), undefined, 120))

it('is blamed on nobody where a thread executes', async () => {
  const world = createWorld(2)
  await flipBits(world, threaded(world), 60)
})

it.each(['here', 'in a thread'])('in what says the code of an actor names it, executed %s', async (where) => {
  const world = createWorld(2)
  const chain = await honestChain(world)
  const { blocks } = world.view.store
  const tree = world.view.stateTree(firstBlock(world.genesis).parentStateRoot)
  for (const actor of [CRON_ID, POWER_ID, REWARD_ID]) {
    const code = tree.getActor(actor)?.code.bytes as Uint8Array
    const last = (cid: Cid): number => Buffer.from(getBlock(blocks, cid)).indexOf(code) + code.length - 1
    const holders = stateBlocks(world).filter((cid) => last(cid) >= code.length)
    // The actors' own record, and the manifest, which nobody reads here.
    const named: Cid[] = []
    for (const cid of holders) {
      const vm = where === 'here' ? undefined : threaded(world)
      if (!(await followsDespite(world, chain, vm, cid, 8 * last(cid)))) named.push(cid)
    }
    expect(named, `actor ${actor}`).toHaveLength(1)
  }
})

it('in the key of a sender that is written as an ID names it', async () => {
  const world = createWorld(2)
  const { blocks } = world.view.store
  const account = world.node.plan.accounts[0] as FundedAccount
  const tree = world.view.stateTree(firstBlock(world.genesis).parentStateRoot)
  const id = tree.lookupId(account.address) as bigint
  const byId = [0n, 1n].map((nonce) =>
    signedBy(account, { from: idAddress(id), to: account.address, value: 1n, nonce }),
  )
  const first = await world.tipset(world.genesis, { messages: byId })
  const chain = [first, ...(await world.chain(first, 2))]
  const cid = tree.getActor(id)?.head as Cid
  const bits = 8 * getBlock(blocks, cid).length
  // The last byte is the key's, the third one what kind of key it is.
  for (const bit of [bits - 8, bits - 1, 2 * 8, 2 * 8 + 1])
    expect(await followsDespite(world, chain, undefined, cid, bit), `bit ${bit}`).toBe(false)
})

it('in the power of one winner names it, though the block of the other is followed', async () => {
  const world = createWorld(2)
  const chain = await honestChain(world)
  const { blocks } = world.view.store
  const head = chain.at(-1) as Tipset
  expect(head.blocks).toHaveLength(2)
  // Raw and quality adjusted power of each of the two miners: 2 KiB.
  const claim = Buffer.from([0x0a, 0x43, 0, 8, 0, 0x43, 0, 8, 0])
  const claims = stateBlocks(world).filter((cid) => Buffer.from(getBlock(blocks, cid)).includes(claim))
  expect(claims).toHaveLength(1)
  const cid = claims[0] as Cid
  const data = Buffer.from(getBlock(blocks, cid))
  const ends = [data.indexOf(claim), data.lastIndexOf(claim)].map((at) => at + claim.length - 1)
  const heads = new Set<number>()
  for (const end of ends)
    for (const bit of [4, 5, 6, 7]) await followsDespite(world, chain, undefined, cid, 8 * end + bit, heads)
  expect(heads).toContain(1)
})

it('in a stored header names it', async () => {
  const world = createWorld(2)
  const chain = await honestChain(world)
  const [first, second, third] = chain as [Tipset, Tipset, Tipset]
  const source = new RecordedSource(world.view)
  const { syncer, blocks, meta } = createFollower(world, { mode: 'execute', source })
  syncer.offerTipset('peer', withMessages(world.view, first))
  await settled(syncer)
  await syncer.stop()
  // Of a tipset that the node has, and has not made its head yet.
  for (const header of second.blocks) blocks.put(headerCid(header), encode(blockHeader, header))
  const cid = headerCid(firstBlock(second))
  blocks.put(cid, encode(blockHeader, { ...firstBlock(second), forkSignaling: 1n }))
  const again = createFollower(world, { mode: 'execute', source, blocks, meta })
  again.syncer.offerTipset('peer', withMessages(world.view, third))
  await settled(again.syncer)
  expect(said(again)).toContain(`Cannot use block ${cid.toString()}: the store is damaged`)
  for (const block of third.blocks) expect(again.syncer.whyBad(headerCid(block))).toBeUndefined()
  expect(again.reports).toEqual([])
})
