/** Numbers of errors: Lotus' clients make an error of their own of each that Lotus registers, by the number alone. */
import { expect, test } from 'vitest'
import { RPC_ERROR_NUMBERS, type RpcErrorCode } from '../../src/rpc/errors.ts'

/** What Lotus registers. @see lotus api/api_errors.go init */
const REGISTERED: Readonly<Partial<Record<RpcErrorCode, number>>> = {
  OUT_OF_GAS: 2,
  EXECUTION_REVERTED: 3,
  F3_DISABLED: 4,
  F3_TICKET_INVALID: 5,
  F3_TICKET_EXPIRED: 6,
  F3_ISSUER_MISMATCH: 7,
  F3_TOO_MANY_INSTANCES: 8,
  F3_STARTS_BEFORE_LEASE: 9,
  F3_NOT_READY: 10,
  ACTOR_NOT_FOUND: 11,
  NULL_ROUND: 12,
  PAYMENT_CHANNELS_DISABLED: 13,
  BLOCK_RANGE_EXCEEDED: -32005,
  EXPENSIVE_FORK: -32002,
}

test('each error that Lotus registers has its number, and no other has one of those, but for limits', () => {
  expect(RPC_ERROR_NUMBERS).toMatchObject(REGISTERED)
  const numbers = Object.values(REGISTERED)
  const taken = Object.entries(RPC_ERROR_NUMBERS).filter(
    ([code, number]) => !(code in REGISTERED) && numbers.includes(number),
  )
  expect(taken).toEqual([['LIMIT_EXCEEDED', -32005]])
})
