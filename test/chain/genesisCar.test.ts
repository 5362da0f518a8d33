import { describe, expect, it } from 'vitest'
import { createGenesisBlock } from '../../src/actors/genesis/block.ts'
import { CarStore } from '../../src/archive/carStore.ts'
import { readGenesisCar, writeGenesisCar } from '../../src/chain/genesisCar.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { devnetOptions } from '../../src/devnet/options.ts'
import { createDevnetPlan } from '../../src/devnet/plan.ts'
import { getCbor, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { blockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import { missingShared, readShared } from '../support/shared.ts'

const plan = createDevnetPlan(devnetOptions({}), builtinNetwork('devnet'))
const manifest = manifestFor(plan.network, 18)
const missing = manifest === undefined ? 'no manifest' : missingBundle(manifest.manifestCid.toString())

describe('genesis files', () => {
  it.skipIf(missingShared('data/genesis') !== undefined)('of mainnet and calibnet are read and written again', () => {
    for (const name of ['mainnet', 'calibnet']) {
      const store = new MemoryBlockstore()
      const root = readGenesisCar(store, memorySource(readShared(`data/genesis/${name}.car`)))
      expect(root.toString()).toBe(builtinNetwork(name).genesisCid?.toString())
      const header = getCbor(store, blockHeader, root)
      expect(StateTree.load(store, header.parentStateRoot).getActor(0n)).toBeDefined()
      const again = new MemoryBlockstore()
      expect(readGenesisCar(again, memorySource(writeGenesisCar(store, root))).equals(root)).toBe(true)
      StateTree.load(again, header.parentStateRoot).forEach((_id, actor) => {
        expect(again.has(actor.head)).toBe(true)
        expect(again.has(actor.code) || actor.code.isIdentity).toBe(true)
      })
      expect(StateTree.load(again, header.parentStateRoot).getActor(0n)).toBeDefined()
    }
  })

  it.skipIf(missing !== undefined)('of a local chain have the code of every actor in its manifest', () => {
    const { genesis } = plan
    const store = new MemoryBlockstore()
    const root = headerCid(createGenesisBlock(store, genesis(1_700_000_000)))
    const bundle = new CarStore(memorySource(readBundle(manifest?.manifestCid.toString() ?? '')), { verify: 'read' })
    const withCode = new MemoryBlockstore()
    expect(
      readGenesisCar(withCode, memorySource(writeGenesisCar(store, root, (cid) => bundle.get(cid)))).equals(root),
    ).toBe(true)
    const without = new MemoryBlockstore()
    readGenesisCar(without, memorySource(writeGenesisCar(store, root)))
    const codes = [...(manifest?.actors.values() ?? [])]
    expect(codes.length).toBe(16)
    expect(codes.filter((cid) => withCode.has(cid)).length).toBe(16)
    expect(codes.filter((cid) => without.has(cid)).length).toBe(0)
  })

  it('give their header alone', () => {
    if (missingShared('data/genesis') !== undefined) return
    const source = memorySource(readShared('data/genesis/mainnet.car'))
    const [store, whole] = [new MemoryBlockstore(), new MemoryBlockstore()]
    const root = readGenesisCar(store, source, 'header')
    expect(root.equals(readGenesisCar(whole, source))).toBe(true)
    const { parentStateRoot } = getCbor(store, blockHeader, root)
    expect([store.has(parentStateRoot), whole.has(parentStateRoot)]).toEqual([false, true])
  })

  it('that are damaged are refused', () => {
    if (missingShared('data/genesis') !== undefined) return
    const bytes = readShared('data/genesis/mainnet.car').slice()
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    expect(() => readGenesisCar(new MemoryBlockstore(), memorySource(bytes))).toThrow(
      expect.objectContaining({ code: 'CID_MISMATCH' }),
    )
    expect(() => readGenesisCar(new MemoryBlockstore(), memorySource(bytes.subarray(0, bytes.length - 7)))).toThrow(
      expect.objectContaining({ code: 'INVALID_CAR' }),
    )
  })
})
