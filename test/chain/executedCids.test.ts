/** Which messages were executed, told without reading them: as the messages themselves tell it, on chains that Lotus made. */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { executedCids } from '../../src/chain/blockMessages.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { chainMessageCid } from '../../src/types/chainMessage.ts'
import { openGolden } from '../support/archives.ts'
import { silentLog } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'

describe.skipIf(missingShared('data/golden/nv28') !== undefined)('messages that were executed', () => {
  it.each(['nv18', 'nv28', 'live'])('of %s, in order, where as many are named', (name) => {
    const { store: archive, network } = openGolden(name)
    const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
    const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
    const view = new ChainView({ store, network, beaconRound: (epoch) => epoch + 100 })
    let [told, all] = [0, 0]
    for (let tipset = store.parent(store.head()); tipset.height > 0; tipset = store.parent(tipset)) {
      const executed = view.tipsetMessages(tipset)
      if (executed.length === 0) continue
      all++
      expect(executedCids(blocks, tipset, executed.length + 1)).toBeUndefined()
      const places = executedCids(blocks, tipset, executed.length)
      if (places === undefined) continue
      told++
      expect(places.map(({ cid, isSigned }) => `${cid} ${isSigned}`)).toEqual(
        executed.map((message) => `${chainMessageCid(message)} ${message.kind === 'signed'}`),
      )
    }
    // Where two miners' blocks have different messages of a sender with one nonce it is not told.
    expect(told).toBeGreaterThan(all / 2)
  })
})
