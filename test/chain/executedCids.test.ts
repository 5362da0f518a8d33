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
    let messages = 0
    for (let tipset = store.parent(store.head()); tipset.height > 0; tipset = store.parent(tipset)) {
      const executed = view.tipsetMessages(tipset)
      messages += executed.length
      const kinds = executed.map((message) => `${chainMessageCid(message)} ${message.kind === 'signed'}`)
      expect(
        executedCids(blocks, tipset, executed.length)?.map(({ cid, isSigned }) => `${cid} ${isSigned}`) ?? kinds,
      ).toEqual(kinds)
      expect(executedCids(blocks, tipset, executed.length + 1)).toBeUndefined()
    }
    expect(messages).toBeGreaterThan(0)
  })
})
