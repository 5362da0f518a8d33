import { describe, expect, it } from 'vitest'
import { readGenesisCar, writeGenesisCar } from '../../src/chain/genesisCar.ts'
import { getCbor, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { missingShared, readShared } from '../support/shared.ts'

describe('genesis files', () => {
  it.skipIf(missingShared('data/genesis') !== undefined)('of mainnet and calibnet are read and written again', () => {
    for (const name of ['mainnet', 'calibnet']) {
      const store = new MemoryBlockstore()
      const root = readGenesisCar(store, readShared(`data/genesis/${name}.car`))
      expect(root.toString()).toBe(builtinNetwork(name).genesisCid?.toString())
      const header = getCbor(store, blockHeader, root)
      expect(StateTree.load(store, header.parentStateRoot).getActor(0n)).toBeDefined()
      const again = new MemoryBlockstore()
      expect(readGenesisCar(again, writeGenesisCar(store, root)).equals(root)).toBe(true)
      StateTree.load(again, header.parentStateRoot).forEach((_id, actor) => {
        expect(again.has(actor.head)).toBe(true)
        expect(again.has(actor.code) || actor.code.isIdentity).toBe(true)
      })
      expect(StateTree.load(again, header.parentStateRoot).getActor(0n)).toBeDefined()
    }
  })

  it('that are damaged are refused', () => {
    if (missingShared('data/genesis') !== undefined) return
    const bytes = readShared('data/genesis/mainnet.car').slice()
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    expect(() => readGenesisCar(new MemoryBlockstore(), bytes)).toThrow(
      expect.objectContaining({ code: 'CID_MISMATCH' }),
    )
    expect(() => readGenesisCar(new MemoryBlockstore(), bytes.subarray(0, bytes.length - 7))).toThrow(
      expect.objectContaining({ code: 'INVALID_CAR' }),
    )
  })
})
