/** Prices of sectors that nobody can have. */
import { beforeAll, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { PledgePrices } from '../../src/execution/pledgePrices.ts'
import { idAddress } from '../../src/types/address.ts'
import { createWorld } from '../sync/world.ts'

beforeAll(async () => void (await initCrypto()))

it('a sector that lasts no epoch has none, and says so', () => {
  const { view, genesis } = createWorld(1)
  const prices = new PledgePrices(view, genesis)
  const of = (expiration: number): bigint =>
    prices.initialPledgeOf(idAddress(1000), { sealProof: 5, dealIds: [], expiration })
  expect(of(1000)).toBeGreaterThan(0n)
  expect(() => of(0)).toThrow(expect.objectContaining({ name: 'ChainError', code: 'NOT_SUPPORTED' }))
})
