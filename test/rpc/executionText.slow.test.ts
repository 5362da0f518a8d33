/** The fast printing of executions says what their codec says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRecorded, type RecordedNode } from '../../scripts/golden/openRecorded.ts'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { computeOutput, computeOutputText } from '../../src/rpc/types/execution.ts'
import { DEVNET_BUNDLE } from '../clients/localChain.ts'
import { missingBundle } from '../support/actors.ts'
import { missingShared, sharedPath } from '../support/shared.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const
const TIPSETS = 30
const missing = missingShared('data/golden/live/chain.car.zst') ?? missingBundle(DEVNET_BUNDLE)

describe.skipIf(missing !== undefined)('text of executions', () => {
  let recorded: RecordedNode
  beforeAll(async () => {
    recorded = await openRecorded(sharedPath('data/golden/live'))
  })
  afterAll(() => recorded?.close())

  it('equals the JSON of the codec', async () => {
    const { view, vm } = recorded.node
    let tipset = view.store.head()
    for (let i = 0; i < TIPSETS; i++, tipset = view.store.parent(tipset)) {
      const output = await vm.compute(tipset, tipset.height, [])
      const expected = stringifyJson(computeOutput.toJson(output, JSON_CONTEXT))
      expect(computeOutputText(output, JSON_CONTEXT)).toBe(expected)
    }
  })
})
