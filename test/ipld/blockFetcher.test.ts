/** Fetches of one block by several callers. */
import { expect, test } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'

test("a caller whose signal fires does not wait for another's fetch", async () => {
  let asked = 0
  const bring = Promise.withResolvers<void>()
  const data = utf8('slow')
  const cid = blockCid(data)
  const store = new MemoryBlockstore()
  const source = {
    fetch: async () => {
      asked++
      await bring.promise
      return [[cid, data] as const]
    },
  }
  const fetcher = new BlockFetcher(store, [source])
  const patient = fetcher.fetch([cid])
  const given = new AbortController()
  const hasty = fetcher.fetch([cid], given.signal)
  given.abort(new Error('gone'))
  await expect(hasty).rejects.toThrow('gone')
  bring.resolve()
  await patient
  expect([asked, store.get(cid)]).toEqual([1, data])
})
