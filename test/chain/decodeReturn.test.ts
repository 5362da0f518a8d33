import { expect, test } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { decodeReturn } from '../../src/chain/decodeReturn.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { idAddress } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import type { Receipt } from '../../src/types/receipt.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { header } from './buildChain.ts'

const tipset = createTipset([header(undefined, 0, 0)])
const message: Message = {
  version: 0,
  to: idAddress(1000n),
  from: idAddress(100n),
  nonce: 0n,
  value: 0n,
  gasLimit: 0n,
  gasFeeCap: 0n,
  gasPremium: 0n,
  method: 2n,
  params: new Uint8Array(0),
}
const view = {
  stateBefore: () => ({ getActor: () => ({ code: parseCid('bafkqactgnfwc6mjpnfxgs5a') }) }),
  codes: () => ({ kind: 'multisig', actorsVersion: 16 }),
} as unknown as ChainView

function decoded(hex: string) {
  const receipt: Receipt = { exitCode: 0, return: fromHex(hex), gasUsed: 0n, eventsRoot: null }
  const found = { cid: parseCid('bafkqactgnfwc6mjpnfxgs5a'), receipt, tipset }
  return decodeReturn(view, message, found, { addressPrefix: 'f' })
}

test('what lies behind a returned value is not looked at', () => {
  const proposed = { TxnID: 3, Applied: true, Code: 0, Ret: null }
  expect(decoded('8403f50040')).toEqual(proposed)
  expect(decoded('8403f50040ff')).toEqual(proposed)
})
