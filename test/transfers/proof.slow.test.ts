/**
 * The proof that nothing is missed: on every recorded chain the transfers, gas and rewards of each tipset explain the
 * change of every actor's balance to the attoFIL. States and traces are Lotus' own.
 */
import { describe, expect, test } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import { balanceChanges } from '../../src/transfers/balanceChanges.ts'
import { collectTransfers } from '../../src/transfers/collectTransfers.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { missingShared } from '../support/shared.ts'
import { balanceDifferences, lookupIn, openRecorded, recordedTipsets } from './recordedChain.ts'

const CHAINS = [
  'nv17',
  'nv18',
  'nv20',
  'nv22',
  'nv24',
  'nv25',
  'nv27',
  'nv28',
  'nv28-deadlines',
  'nv28-depth',
  'up-24-28',
  'up-27-28',
  'f3',
]

describe.skipIf(missingShared('data/golden') !== undefined)('transfers explain every balance', () => {
  test.each(CHAINS)('%s', (chain) => {
    const store = openRecorded(chain)
    const tipsets = recordedTipsets(chain)
    expect(tipsets.length).toBeGreaterThan(30)
    let moved = 0
    let checked = 0
    for (const { height, key, root, executed } of tipsets) {
      const header = getCbor(store, blockHeader, parseCid(key[0] as string))
      // run at another epoch than its own, or the head, whose own result is in no archive
      if (header.height !== height || store.get(root) === undefined) continue
      checked++
      const { transfers, fees } = finish(collectTransfers(executed, lookupIn(store, root)))
      moved += transfers.length
      const explained = balanceChanges(transfers, fees)
      const actual = balanceDifferences(store, header.parentStateRoot, root)
      expect(sorted(explained), `${chain} height ${height}`).toEqual(sorted(actual))
    }
    expect(checked).toBeGreaterThan(30)
    expect(moved).toBeGreaterThan(checked)
  })
})

function sorted(changes: ReadonlyMap<bigint, bigint>): string[] {
  return [...changes].map(([actor, change]) => `f0${actor}: ${change}`).sort()
}
