import { describe, expect, it } from 'vitest'
import type { Cid } from '../../src/codec/cid.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import { anyPowerState, powerStateAt } from '../../src/state/power.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { headHeader, openGolden, openShared } from '../support/archives.ts'
import { missingShared } from '../support/shared.ts'

describe.skipIf(missingShared('data/golden') !== undefined)("the power actor's state", () => {
  const head = (store: Parameters<typeof headHeader>[0]): Cid =>
    (StateTree.load(store, headHeader(store).parentStateRoot).getActor(4n) as { head: Cid }).head

  it.each([
    ['nv17', 9],
    ['nv24', 15],
    ['nv28', 18],
  ])('%s is read without its version', (chain, version) => {
    const { store } = openGolden(chain)
    expect(getCbor(store, anyPowerState, head(store))).toEqual(getCbor(store, powerStateAt(version), head(store)))
  })

  it('mainnet genesis too', () => {
    const store = openShared('genesis/mainnet.car')
    // data/snapshots/README.md
    expect(getCbor(store, anyPowerState, head(store)).totalQualityAdjPower).toBe(791648371998720n)
  })
})
