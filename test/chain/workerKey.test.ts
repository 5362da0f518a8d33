import { beforeAll, expect, it } from 'vitest'
import { workerKeyAt } from '../../src/chain/workerKey.ts'
import { publicKey } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { actorAddress, blsAddress, idAddress } from '../../src/types/address.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { createWorld } from '../sync/world.ts'

beforeAll(async () => {
  await initCrypto()
})

it('is of miners alone: evidence of a fault may name any actor, and none', async () => {
  const world = createWorld(1)
  const head = (await world.chain(world.genesis, 2)).at(-1) as Tipset
  const { miner, workerKey } = world.node.plan.producers[0]!
  expect(workerKeyAt(world.view, head, miner, head.height)?.equals(blsAddress(publicKey(workerKey)))).toBe(true)
  const others = [0, 1, 2, 3, 4, 5, 6, 7, 10, 99, 100, 1001, 77_777].map((id) => idAddress(id))
  const account = world.node.plan.accounts[0]!.address
  for (const other of [...others, account, actorAddress(Uint8Array.of(1))]) {
    expect(workerKeyAt(world.view, head, other, head.height), other.toString()).toBeUndefined()
  }
})
