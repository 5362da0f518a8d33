/** Parameters on the chain are what their sender made of them. */
import { expect, test } from 'vitest'
import { fromHex } from '../../../src/base/bytes.ts'
import { finish } from '../../../src/base/steps.ts'
import type { ChainView } from '../../../src/chain/chainView.ts'
import { parseCid } from '../../../src/codec/cid.ts'
import type { CallContext } from '../../../src/rpc/method.ts'
import { paramsMethods } from '../../../src/rpc/methods/params.ts'
import { idAddress } from '../../../src/types/address.ts'

function decoded(kind: string, number: bigint, hex: string): unknown {
  const tree = { getActor: () => ({ code: parseCid('bafkqactgnfwc6mjpnfxgs5a') }) }
  const view = {
    store: { tipsetOrHead: () => undefined },
    stateBefore: () => tree,
    codes: () => ({ kind, actorsVersion: 16 }),
  } as unknown as ChainView
  const row = paramsMethods(view).find(({ name }) => name === 'StateDecodeParams')
  if (row?.kind !== 'call') throw new TypeError('no row')
  const call = { json: { addressPrefix: 'f' }, walk: finish } as unknown as CallContext
  return row.handle([idAddress(1000n), number, fromHex(hex), []], call)
}

test.each([
  ['multisig', 2n, '84420064400040', { To: 'f0100', Value: '0', Method: 0, Params: null }],
  ['multisig', 3n, '820740', { ID: 7, ProposalHash: null }],
  ['storagemarket', 2n, '420064', 'f0100'],
] as const)('what lies behind the parameters of a %s is not looked at', (kind, number, hex, value) => {
  expect(decoded(kind, number, hex)).toEqual(value)
  expect(decoded(kind, number, `${hex}ff`)).toEqual(value)
})

test('parameters that end early are refused in the words of Go', () => {
  expect(() => decoded('multisig', 3n, '8207')).toThrow('unexpected EOF')
  expect(() => decoded('multisig', 3n, '')).toThrow(/^EOF$/)
})
