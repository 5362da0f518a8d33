/** What methods of state say where they refuse, in the words of a Lotus v1.36.2-dev that was asked the same. */

import { expect, test } from 'vitest'
import { finish } from '../../../src/base/steps.ts'
import { loadSought } from '../../../src/chain/searchMessage.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { executionMethods } from '../../../src/rpc/methods/execution.ts'
import { finalityMethods } from '../../../src/rpc/methods/finality.ts'
import { minerMethods } from '../../../src/rpc/methods/miner.ts'
import { multisigMethods } from '../../../src/rpc/methods/multisig.ts'
import { paramsMethods } from '../../../src/rpc/methods/params.ts'
import { stateMethods } from '../../../src/rpc/methods/state.ts'
import { openRecordedView } from '../../support/recordedView.ts'
import { sharedMissing } from '../../support/shared.ts'

async function ask(name: string, params: readonly Json[], version: 'v1' | 'v2' = 'v1'): Promise<Json> {
  const { view, vm } = openRecordedView('nv28')
  const findMessage = (cid: Cid): void => void loadSought(view, cid)
  const deps = { view, vm, finality: undefined, findMessage } as never
  const of = [minerMethods, stateMethods, multisigMethods, finalityMethods, executionMethods]
  const rows = [...of.flatMap((methods) => methods(deps)), ...paramsMethods(view)]
  const row = rows.find((one) => one.name === name && one.versions.includes(version))
  if (row?.kind !== 'call') throw new TypeError(`no row ${name}`)
  const json = { addressPrefix: view.network.addressPrefix }
  const signal = AbortSignal.timeout(60_000)
  const caller = { version, permissions: new Set<string>(), signal, ended: signal, notify: undefined } as const
  const values = row.params.map(({ codec }, i) => codec.fromJson(params[i], json))
  return row.result.toJson(await row.handle(values, { ...caller, json, walk: finish }), json)
}

const NO_BLOCKS = 'NewTipSet called with zero length array of blocks'
const HEIGHT = 'validating selector: validating tipset height: invalid tipset height'

test.skipIf(sharedMissing).each([
  ['StateGetRandomnessFromTickets', [0, 1, [], []], `loading tipset key: ${NO_BLOCKS}`],
  ['MinerGetBaseInfo', ['t01000', 0, []], `failed to load tipset for mining base: ${NO_BLOCKS}`],
  ['MsigGetPending', ['t099', []], 'failed to load multisig actor state: actor code is not multisig: account'],
  ['StateMinerInfo', ['t099', []], 'failed to load miner actor state: actor code is not miner: account'],
  ['MsigGetPending', ['t0999999', []], 'failed to load multisig actor: actor not found'],
  ['StateMinerInfo', ['t0999999', []], 'failed to load miner actor: actor not found'],
  ['StateMinerAllocated', ['t099', []], 'actor code is not miner: account'],
  ['StateMinerPartitions', ['t01000', 48, []], 'failed to load the deadline: invalid deadline 48'],
  ['StateDecodeParams', ['t0999999', 2, null, []], 'getting actor: actor not found'],
])('%s %j', async (name, params, words) => {
  await expect(ask(name, params as Json[])).rejects.toMatchObject({ message: words })
})

test.skipIf(sharedMissing).each([
  ['ChainGetTipSet', [{ height: { at: -1 } }], `${HEIGHT}: epoch cannot be less than zero`],
  ['ChainGetTipSet', [{ height: {} }], `${HEIGHT}: at epoch must be specified`],
  [
    'StateGetActor',
    ['t01000', {}],
    'getting tipset: validating selector: exactly one tipset selection criteria must be specified, found: 0',
  ],
])('v2 %s %j', async (name, params, words) => {
  await expect(ask(name, params as Json[], 'v2')).rejects.toMatchObject({ message: words })
})

test.skipIf(sharedMissing)('StateReplay of what is no message', async () => {
  const [block] = openRecordedView('nv28').view.store.head().key
  const message = `searching for msg ${block}: %!w(*errors.errorString=&{failed to load message}): cbor input had wrong number of fields`
  await expect(ask('StateReplay', [[], { '/': `${block}` }])).rejects.toMatchObject({ message })
})

test.skipIf(sharedMissing)('every actor takes a plain send, whose parameters are nothing', async () => {
  expect(await ask('StateDecodeParams', ['t01', 0, null, []])).toEqual({})
})
