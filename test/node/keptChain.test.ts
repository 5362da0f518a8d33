/** A store that holds the chain of one network is not opened as another's, and nothing is written to it. */
import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { NodeShim } from '../../src/node/nodeShim.ts'
import { openFollower } from '../../src/node/openFollower.ts'
import { openHeaders } from '../../src/node/openLight.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { header } from '../chain/buildChain.ts'
import { silentLog } from '../support/recordedView.ts'

const GENESIS_KEY = utf8('chain/genesis')
const network = builtinNetwork('calibnet')
const other = headerCid(header(undefined, 0, 7))

function shimWith(kept: Uint8Array | undefined) {
  const put: string[] = []
  const memory = new MemoryBlockstore()
  const blocks: Blockstore = {
    get: (cid) => memory.get(cid),
    has: (cid) => memory.has(cid),
    put: (cid, bytes) => {
      put.push(cid.toString())
      memory.put(cid, bytes)
    },
  }
  const meta = new MemoryStore()
  if (kept !== undefined) meta.put(GENESIS_KEY, kept)
  const shim = { stores: { blocks, meta }, ports: { log: silentLog }, say: () => undefined } as unknown as NodeShim
  return { shim, meta, put }
}

describe('a store with the chain of another genesis', () => {
  it('is refused by a follower', async () => {
    const { shim, meta, put } = shimWith(other.bytes)
    const { signal } = new AbortController()
    await expect(openFollower({ network, mode: 'execute', signal }, shim)).rejects.toMatchObject({
      code: 'OTHER_CHAIN',
    })
    expect(put).toEqual([])
    expect(meta.get(GENESIS_KEY)).toEqual(other.bytes)
  })

  it('is refused by what holds headers alone', async () => {
    const { shim, meta, put } = shimWith(other.bytes)
    await expect(openHeaders({ network }, shim, 'header')).rejects.toMatchObject({ code: 'OTHER_CHAIN' })
    expect(put).toEqual([])
    expect(meta.get(GENESIS_KEY)).toEqual(other.bytes)
    const own = shimWith(network.genesisCid?.bytes)
    expect((await openHeaders({ network }, own.shim, 'header')).head().height).toBe(0)
  })
})
