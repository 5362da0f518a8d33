/** Transfers by our own execution equal those of Lotus' recorded traces, and name the accounts behind the IDs. */
import { describe, expect, test } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { collectTransfers } from '../../src/transfers/collectTransfers.ts'
import { TransferReader } from '../../src/transfers/tipsetTransfers.ts'
import { isIdAddress } from '../../src/types/address.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { lookupIn, recordedTipsets } from './recordedChain.ts'

/** Compared on each chain; the machine's own tests execute them all. */
const TIPSETS = 12

describe.skipIf(missingShared('data/golden') !== undefined)('transfers by execution', () => {
  test.each(['nv17', 'nv28'])('%s', async (chain) => {
    const { view, vm, executes } = openRecordedView(chain)
    if (!executes) return console.log(`skipped: no actors bundle for ${chain}`)
    const reader = new TransferReader(view, vm)
    let compared = 0
    let named = 0
    for (const { height, key, root, executed } of recordedTipsets(chain)) {
      const tipset = view.store.tipset(key.map(parseCid))
      // the head's own result is in no archive; tipsets without messages move rewards alone
      if (tipset.height !== height || tipset.height === view.store.head().height) continue
      if (executed.every(({ message }) => message === null)) continue
      if (compared === TIPSETS) break
      const expected = finish(collectTransfers(executed, lookupIn(view.store.blocks, root)))
      const found = await reader.read(tipset)
      expect(found.root.equals(root), `${chain} ${height}`).toBe(true)
      expect(found.transfers, `${chain} ${height}`).toEqual(expected.transfers)
      expect(found.fees, `${chain} ${height}`).toEqual(expected.fees)
      for (const { to, toAddress } of found.transfers) {
        if (isIdAddress(toAddress)) continue
        expect(found.addressOf.get(to)).toEqual(toAddress)
        named++
      }
      compared++
    }
    expect(compared).toBe(TIPSETS)
    expect(named).toBeGreaterThan(10)
  })
})
