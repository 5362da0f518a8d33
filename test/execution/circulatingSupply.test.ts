import { describe, expect, it } from 'vitest'
import { parseCid } from '../../src/codec/cid.ts'
import { circulatingSupply } from '../../src/execution/circulatingSupply.ts'
import { MachineState } from '../../src/fvm/machineState.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { openGoldenChain } from '../fvm/support/goldenChain.ts'
import { type Row, recordedCalls } from '../support/recorded.ts'
import { missingShared } from '../support/shared.ts'

const METHOD = 'Filecoin.StateVMCirculatingSupplyInternal'

describe('circulating supply', () => {
  // Deals count as locked before network version 23; the reserve starts elsewhere from 25 on.
  for (const name of ['nv18', 'nv22', 'nv24', 'nv28']) {
    const missing = missingShared(`data/golden/${name}/chain.jsonl.zst`)
    it.skipIf(missing !== undefined)(`${name}: the parts that Lotus gives`, () => {
      const golden = openGoldenChain(name)
      const byKey = new Map(golden.tipsets.map((tipset) => [tipset.key.join(), tipset]))
      let count = 0
      for (const { params, response } of recordedCalls(name, 'chain.jsonl.zst', [METHOD])) {
        const key = params[0] as Row[] | null
        const tipset = byKey.get((key ?? []).map((one) => parseCid(one['/'] as string)).join())
        if (tipset === undefined) continue
        const tree = new MachineState(golden.store, firstBlock(tipset).parentStateRoot)
        const supply = circulatingSupply(golden.network, tipset.height, {
          store: golden.store,
          getActor: (id) => tree.getActor(id),
        })
        expect({
          FilVested: String(supply.filVested),
          FilMined: String(supply.filMined),
          FilBurnt: String(supply.filBurnt),
          FilLocked: String(supply.filLocked),
          FilCirculating: String(supply.filCirculating),
          FilReserveDisbursed: String(supply.filReserveDisbursed),
        }).toEqual(response.result)
        count++
      }
      expect(count).toBeGreaterThan(0)
    })
  }
})
