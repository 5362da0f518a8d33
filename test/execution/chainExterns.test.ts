/** What the machine is told when the chain has no answer, and when the disk has none. */
import { expect, it } from 'vitest'
import { PetrelError } from '../../src/base/errors.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { ChainExterns } from '../../src/execution/chainExterns.ts'
import { ExternFailure } from '../../src/fvm/externs.ts'
import { BlockDamaged, BlockMissing } from '../../src/ipld/errors.ts'
import { type Tipset, tipsetKeyCid } from '../../src/types/tipset.ts'

/** Externs of a chain whose headers cannot be read for this reason. */
function failingWith(error: Error): ChainExterns {
  const fail = (): never => {
    throw error
  }
  const view = { randomness: fail, store: { tipsetByHeight: fail } } as unknown as ChainView
  return new ChainExterns(view, {} as Tipset, { watermelonFix: undefined, workerKey: fail })
}

const cid = tipsetKeyCid([])

it.each([
  ['a message asks for what is not yet', new ChainError('FUTURE_RANDOMNESS', 'in the future'), ExternFailure],
  ['a block is missing', new BlockMissing([cid]), BlockMissing],
  ['a block is damaged', new BlockDamaged(cid), BlockDamaged],
  ['the disk cannot be read', new PetrelError('STORE_FAILED', 'input/output error'), PetrelError],
])('%s', (_when, error, thrown) => {
  const externs = failingWith(error)
  for (const ask of [() => externs.chainRandomness(1), () => externs.beaconRandomness(1), () => externs.tipsetCid(1)]) {
    let found: unknown
    try {
      ask()
    } catch (caught) {
      found = caught
    }
    expect(found).toBeInstanceOf(thrown)
    // An actor goes on with a failure of the chain's, and its message ends otherwise than everywhere else.
    expect(found instanceof ExternFailure).toBe(thrown === ExternFailure)
  }
})
