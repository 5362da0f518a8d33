/** A flipped bit in a stored state: whoever gossips a message whose sender cannot be read there is not blamed. */
import { beforeAll, expect, it } from 'vitest'
import { ChainView } from '../../src/chain/chainView.ts'
import { encode } from '../../src/codec/description.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { getBlock } from '../../src/ipld/blockstore.ts'
import { isBlockLink, walkDag } from '../../src/ipld/walkDag.ts'
import { type MessageVerdict, validateMessage } from '../../src/p2p/gossip/messageValidator.ts'
import type { Address } from '../../src/types/address.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { signedBy } from '../support/devnetNode.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { silentLog } from '../support/recordedView.ts'
import { createFollower, RecordedSource } from '../sync/follower.ts'
import { createWorld, type World } from '../sync/world.ts'
import { openChainPool } from './chainPool.ts'

beforeAll(async () => void (await initCrypto()))

/** What becomes of a gossiped message of an account. @param flip - changes the block that holds the account's record */
async function verdictOf(world: World, { address, ...account }: FundedAccount, flip: (data: Uint8Array) => void) {
  const { store, blocks } = createFollower(world, { mode: 'execute', source: new RecordedSource(world.view) })
  const { parentStateRoot } = firstBlock(world.genesis)
  const head = headOf(world, address)
  const holders: Uint8Array[] = []
  walkDag(
    blocks,
    parentStateRoot,
    (cid) => {
      const data = getBlock(blocks, cid)
      if (Buffer.from(data).indexOf(head) < 0) return
      const changed = data.slice()
      flip(changed)
      holders.push(changed)
      blocks.put(cid, changed)
    },
    { follow: (cid) => isBlockLink(cid) && blocks.has(cid) },
  )
  expect(holders).toHaveLength(1)
  const view = new ChainView({ store, network: world.network, beaconRound: mockBeacon.roundAt })
  const time = new FakeTime()
  const pool = await openChainPool(view, world.node.vm, time)
  const data = encode(signedMessage, signedBy({ address, ...account }, { to: address, value: 1n, nonce: 0n }))
  const deps = { pool, readState: async <T>(run: () => T | Promise<T>): Promise<T> => run(), log: silentLog }
  const verdict: MessageVerdict = await validateMessage({ data, from: 'peer' }, deps)
  pool.close()
  return verdict
}

/** Link to an account's own state, which no other actor has. */
function headOf({ view, genesis }: World, address: Address): Uint8Array {
  const tree = view.stateTree(firstBlock(genesis).parentStateRoot)
  return tree.getActor(tree.lookupId(address) as bigint)?.head.bytes as Uint8Array
}

it('a message of a sender whose code has a flipped bit in the store is not rejected', async () => {
  const world = createWorld(1)
  const account = world.node.plan.accounts[0] as FundedAccount
  const head = headOf(world, account.address)
  expect(await verdictOf(world, account, () => undefined)).toEqual({ verdict: 'accept' })
  // A record begins with the link to the code; the link behind it has five bytes before those of its CID.
  const flip = (data: Uint8Array): void => {
    const last = Buffer.from(data).indexOf(head) - 6
    data[last] = (data[last] as number) ^ 1
  }
  expect(await verdictOf(world, account, flip)).toEqual({ verdict: 'ignore', reason: 'not_judged' })
})
