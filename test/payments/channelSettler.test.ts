/** Vouchers of channels that their payer has settled. */
import { expect, it } from 'vitest'
import { EMPTY_BYTES } from '../../src/base/bytes.ts'
import { type Address, actorAddress } from '../../src/types/address.ts'
import { ChannelWorld, signed } from './channelWorld.ts'

/** Epochs after which a settling channel's vouchers are sent. */
const CONFIDENCE = 6

/** Inbound channels with a voucher each, in this order. */
async function inbound(world: ChannelWorld, channels: readonly Address[]): Promise<void> {
  world.wallet.push(world.to)
  world.onChain = { ...world.onChain, balance: 100n }
  for (const channelAddr of channels) {
    await world.vouchers.add(channelAddr, signed(world.voucher({ channelAddr }), world.from), EMPTY_BYTES, 0n)
  }
  world.onChain = { ...world.onChain, isSettling: true }
}

it('a channel that is gone, or to which nothing can be sent, stops none that come after it', async () => {
  const world = new ChannelWorld()
  const [gone, refused, open] = [1, 2, 3].map((one) => actorAddress(Uint8Array.of(one))) as [Address, Address, Address]
  await inbound(world, [gone, refused, open])
  world.gone.add(gone)
  world.refused.add(refused)
  await world.settler.check(100)
  await world.settler.check(100 + CONFIDENCE)
  expect(world.pushed.map(({ to }) => to)).toEqual([open])
  // Of the one that failed; there is nothing to say of what is gone.
  expect(world.warnings).toEqual(['vouchers of a settling channel are not submitted'])
  world.refused.clear()
  await world.settler.check(101 + CONFIDENCE)
  expect(world.pushed.map(({ to }) => to)).toEqual([open, refused])
})
