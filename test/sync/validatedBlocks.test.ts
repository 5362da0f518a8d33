import { beforeAll, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { ValidatedBlocks } from '../../src/sync/validatedBlocks.ts'

beforeAll(async () => void (await initCrypto()))

it('marks below an epoch are forgotten, however many they are, and no others', async () => {
  const store = new MemoryStore()
  const marks = new ValidatedBlocks(store, 'execute')
  const cids = Array.from({ length: 5 }, (_, i) => blockCid(Uint8Array.of(i)))
  const epochs = Array.from({ length: 700 }, (_, epoch) => epoch)
  await marks.add(...epochs.map((epoch) => [epoch, cids] as const))
  store.put(Uint8Array.of(1), Uint8Array.of(1))
  await marks.prune(650)
  expect(epochs.filter((epoch) => cids.some((cid) => marks.has(epoch, cid)))).toEqual(epochs.slice(650))
  expect([...store.keys()]).toHaveLength(50 * cids.length + 1)
  await marks.prune(-1)
  expect([...store.keys()]).toHaveLength(50 * cids.length + 1)
})
