/** Traces of the head, which nobody has executed for keeps: a thread that computes them hands over no state. */

import { expect, test } from 'vitest'
import { finish } from '../../../src/base/steps.ts'
import { parseJson } from '../../../src/codec/jsonText.ts'
import { parseNetwork } from '../../../src/networks/parseNetwork.ts'
import { EthReader } from '../../../src/rpc/ethReader.ts'
import { traceMethods } from '../../../src/rpc/methods/ethTrace.ts'
import { missingActors } from '../../fvm/support/actorCode.ts'
import { openRecordedMachine } from '../../platform/recordedMachine.ts'
import { missingShared, readSharedText } from '../../support/shared.ts'

const CHAIN = 'live'
const NETWORK = `data/golden/${CHAIN}/network.json`
const missing = missingShared(NETWORK) ?? missingActors(parseNetwork(parseJson(readSharedText(NETWORK))))

test.skipIf(missing !== undefined)('trace_block of the pending block', async () => {
  const machine = openRecordedMachine(CHAIN, 'memory')
  try {
    const { view, host } = machine
    const reader = new EthReader({ view, vm: host } as unknown as ConstructorParameters<typeof EthReader>[0])
    const row = traceMethods(reader, async () => undefined).find((one) => one.name === 'EthTraceBlock')
    if (row?.kind !== 'call') throw new TypeError('no row EthTraceBlock')
    const signal = AbortSignal.timeout(120_000)
    const caller = { version: 'v1', permissions: new Set<string>(), signal, ended: signal, notify: undefined } as const
    const json = { addressPrefix: view.network.addressPrefix }
    const values = row.params.map(({ codec }) => codec.fromJson('pending', json))
    const answer = row.result.toJson(await row.handle(values, { ...caller, json, walk: finish }), json)
    expect(answer).toEqual(expect.any(Array))
  } finally {
    await machine.close()
  }
})
