/** Methods for which the empty key is no head, in the words of a Lotus v1.36 that was asked the same. */

import { expect, test } from 'vitest'
import { finish } from '../../../src/base/steps.ts'
import { minerMethods } from '../../../src/rpc/methods/miner.ts'
import { stateMethods } from '../../../src/rpc/methods/state.ts'
import { openRecordedView } from '../../support/recordedView.ts'
import { sharedMissing } from '../../support/shared.ts'

test.skipIf(sharedMissing).each([
  [
    'StateGetRandomnessFromTickets',
    [0, 1, [], []],
    'loading tipset key: NewTipSet called with zero length array of blocks',
  ],
  [
    'MinerGetBaseInfo',
    ['t01000', 0, []],
    'failed to load tipset for mining base: NewTipSet called with zero length array of blocks',
  ],
] as const)('%s %j', async (name, params, words) => {
  const { view, vm } = openRecordedView('nv28')
  const rows = [...minerMethods({ view, vm } as never), ...stateMethods({ view, vm } as never)]
  const row = rows.find((one) => one.name === name)
  if (row?.kind !== 'call') throw new TypeError(`no row ${name}`)
  const json = { addressPrefix: view.network.addressPrefix }
  const signal = AbortSignal.timeout(60_000)
  const call = {
    version: 'v1',
    permissions: new Set<string>(),
    json,
    signal,
    ended: signal,
    notify: undefined,
    walk: finish,
  } as const
  const values = row.params.map(({ codec }, i) => codec.fromJson(params[i] as never, json))
  await expect(async () => row.handle(values, call)).rejects.toThrow(words)
})
