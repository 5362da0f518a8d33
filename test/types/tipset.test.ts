/** Keys of tipsets in JSON. */
import { expect, it } from 'vitest'
import { tipsetKey } from '../../src/types/tipset.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const
const CID = { '/': 'bafy2bzacea3goz5i2of272lxk7ivi5qsk6pnruj2gyvap2vgibijdpprt6oac' }

// Lotus v1.36, asked with ChainGetTipSet and StateGetActor: a null is the undefined CID, which has no bytes.
it.each([
  [[null], 0],
  [[null, CID], 1],
  [[CID], 1],
  [null, 0],
])('%j has %i CIDs', (json, count) => {
  expect(tipsetKey.fromJson(json, JSON_CONTEXT)).toHaveLength(count)
})
