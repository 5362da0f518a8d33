/** Which tipset a block may be checked against. */
import { expect, it } from 'vitest'
import { checkParents } from '../../src/consensus/checks/parents.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, type Tipset, type TipsetKey } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'

const [a, b] = [header(undefined, 1, 1), header(undefined, 1, 2)] as const
const pair = createTipset([a, b])

function check(base: Tipset, parents: TipsetKey): void {
  checkParents({ header: { ...header(base, 2, 1), parents: [...parents] }, base } as never)
}

it('the one that it names, in whatever order', () => {
  check(pair, pair.key)
  // lotus chain/consensus/filcns/filecoin.go ValidateBlock: LoadTipSet sorts.
  check(pair, pair.key.toReversed())
  for (const parents of [pair.key.slice(1), [...pair.key, ...pair.key], createTipset([a]).key, []]) {
    expect(() => check(pair, parents)).toThrow(expect.objectContaining({ code: 'PARENTS_UNKNOWN' }) as Error)
  }
})

it('none with two blocks of one miner', () => {
  const twin: BlockHeader = { ...a, timestamp: a.timestamp + 1 }
  const both = createTipset([a, b, twin])
  const refused = expect.objectContaining({ code: 'DUPLICATE_MINER', isTemporary: false }) as Error
  expect(() => check(both, both.key)).toThrow(refused)
  // Nor with one block twice, however it was made.
  const twice: Tipset = { key: [...pair.key, ...pair.key], blocks: [...pair.blocks, ...pair.blocks], height: 1 }
  expect(() => check(twice, twice.key)).toThrow(refused)
})
