/** Base fee and weight of every tipset of recorded chains, as the next header states them; and snapshots opened. */
import { describe, expect, it } from 'vitest'
import { openArchive } from '../../src/archive/openArchive.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { Network } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { missingShared, readShared, readSharedJson, readSharedText } from '../support/shared.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function open(path: string, network: Network): ChainView {
  const archive = openArchive(memorySource(readShared(path)), { verify: 'open' })
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
  const store = openChain({ blocks, meta: new MemoryStore(), log, roots: archive.roots })
  return new ChainView({ store, network, beaconRound: (epoch) => epoch })
}

describe('recorded chains', () => {
  it.for(['nv17', 'nv28', 'nv28-deadlines', 'up-24-28'])('%s: base fees and weights', (name, { skip }) => {
    const folder = `data/golden/${name}`
    const missing = missingShared(`${folder}/chain.car.zst`)
    skip(missing !== undefined, missing)
    const view = open(`${folder}/chain.car.zst`, parseNetwork(parseJson(readSharedText(`${folder}/network.json`))))
    let checked = 0
    for (let tipset = view.store.head(); tipset.height > 0; checked++) {
      const { parentBaseFee, parentWeight } = firstBlock(tipset)
      const parent = view.store.parent(tipset)
      expect(view.baseFee(parent), `base fee above ${parent.height}`).toBe(parentBaseFee)
      expect(view.weight(parent), `weight of ${parent.height}`).toBe(parentWeight)
      tipset = parent
    }
    expect(checked).toBeGreaterThan(80)
  })
})

describe('snapshots', () => {
  const missing = missingShared('data/snapshots/chain4.car')
  it.skipIf(missing !== undefined)('chain4.car: mainnet up to its height, base fees as the headers state them', () => {
    const view = open('data/snapshots/chain4.car', builtinNetwork('mainnet'))
    const { store } = view
    expect(String(store.genesis().key[0])).toBe('bafy2bzacecnamqgqmifpluoeldx7zzglxcljo6oja4vrmtj7432rphldpdmm2')
    let above = store.head()
    while (above.height > 1) {
      const parent = store.parent(above)
      expect(view.baseFee(parent)).toBe(firstBlock(above).parentBaseFee)
      above = parent
    }
  })

  it.skipIf(missing !== undefined)('genesis archives: head and genesis are the one block', () => {
    const view = open('data/genesis/mainnet.car', builtinNetwork('mainnet'))
    expect(view.store.head().height).toBe(0)
    expect(view.store.head()).toEqual(view.store.genesis())
    const { networkNames } = readSharedJson<{ networkNames: { genesisInitActor: string } }>(
      'data/networks/mainnet.json',
    )
    expect(view.networkName()).toBe(networkNames.genesisInitActor)
  })
})
