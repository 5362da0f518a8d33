/** Payment channels by Lotus' rules: the stories and numbers of its paychmgr/paychget_test.go. */
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { decode } from '../../src/codec/description.ts'
import { execParams } from '../../src/state/params/init.ts'
import { constructorParams } from '../../src/state/params/paych.ts'
import { idAddress } from '../../src/types/address.ts'
import { StoreFault } from '../support/failingStore.ts'
import { ChannelWorld } from './channelWorld.ts'

const RESERVE = { reserve: true, offChain: false }
const FUND = { reserve: false, offChain: false }
const OFF_CHAIN = { reserve: true, offChain: true }
const never = new AbortController().signal

describe('funds of payment channels', () => {
  it('makes a channel by one message, and adds what it lacks by the next', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    const created = await world.channels.get(from, to, 10n, RESERVE)
    expect(created).toEqual({ channel: undefined, message: world.cid(1) })
    const [draft] = world.pushed as [(typeof world.pushed)[number]]
    expect(draft).toMatchObject({ to: idAddress(1n), from, value: 10n, method: 2n })
    const { codeCid, constructorParams: inner } = decode(execParams, draft.params)
    expect(codeCid).toEqual(world.cid(200))
    expect(decode(constructorParams, inner)).toEqual({ from, to })

    const ready = world.channels.waitReady(world.cid(1), never)
    const more = world.channels.get(from, to, 5n, RESERVE)
    expect(await world.channels.availableFundsBetween(from, to)).toMatchObject({
      channel: null,
      pending: 10n,
      queued: 5n,
      waitSentinel: world.cid(1),
    })
    await world.execute(1)
    expect(await ready).toEqual(world.channel)
    expect(await more).toEqual({ channel: world.channel, message: world.cid(2) })
    expect(world.pushed[1]).toMatchObject({ to: world.channel, from, value: 5n, method: 0n })
    await world.execute(2)
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({
      confirmed: 15n,
      nonReserved: 0n,
      pending: 0n,
      queued: 0n,
      waitSentinel: null,
    })
    expect(world.channels.list()).toEqual([world.channel])
  })

  it('gives nothing out that the disk does not know of', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await world.channels.get(from, to, 10n, FUND)
    await world.execute(1)
    world.store.fault = 'write'
    await expect(world.channels.get(from, to, 6n, RESERVE)).rejects.toThrow(StoreFault)
    world.store.fault = 'none'
    expect(await world.channels.get(from, to, 6n, RESERVE)).toEqual({ channel: world.channel, message: undefined })
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({ confirmed: 10n, nonReserved: 4n })
  })

  it('serves requests that wait by one message, without those that are gone', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await world.channels.get(from, to, 10n, RESERVE)
    const gone = new AbortController()
    const one = world.channels.get(from, to, 5n, RESERVE)
    const cancelled = world.channels.get(from, to, 100n, RESERVE, gone.signal)
    const two = world.channels.get(from, to, 3n, RESERVE)
    gone.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' })
    await world.execute(1)
    expect(await one).toEqual({ channel: world.channel, message: world.cid(2) })
    expect(await two).toEqual({ channel: world.channel, message: world.cid(2) })
    expect(world.pushed.map(({ value }) => value)).toEqual([10n, 8n])
  })

  it('gives what was put there before, without a message', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await world.channels.get(from, to, 10n, FUND)
    await world.execute(1)
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({ confirmed: 10n, nonReserved: 10n })
    expect(await world.channels.get(from, to, 6n, OFF_CHAIN)).toEqual({ channel: world.channel, message: undefined })
    await expect(world.channels.get(from, to, 5n, OFF_CHAIN)).rejects.toThrow(
      `not enough funds available in the payment channel ${world.channel}; add funds with 'lotus paych add-funds ${from} ${to} 0.000000000000000005'`,
    )
    expect(await world.channels.get(from, to, 9n, RESERVE)).toEqual({ channel: world.channel, message: world.cid(2) })
    // The whole request, as Lotus: what is left of the funds stays.
    expect(world.pushed.map(({ value }) => value)).toEqual([10n, 9n])
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({ nonReserved: 4n, pending: 9n })
  })

  it('refuses what would need a message where none may be sent', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await expect(world.channels.get(from, to, 5n, OFF_CHAIN)).rejects.toThrow(
      `payment channel doesn't exist, create with 'lotus paych add-funds ${from} ${to} 0.000000000000000005'`,
    )
    expect(() => world.channels.get(from, to, 5n, { reserve: false, offChain: true })).toThrow(
      "can't fund payment channels without on-chain operations",
    )
    expect(world.pushed).toEqual([])
  })

  it('forgets a channel whose message failed, and makes another', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await world.channels.get(from, to, 10n, RESERVE)
    const ready = world.channels.waitReady(world.cid(1), never)
    const next = world.channels.get(from, to, 6n, RESERVE)
    ready.catch(() => undefined)
    await world.execute(1, 1)
    await expect(ready).rejects.toThrow('payment channel creation failed (exit code 1)')
    // The one that waited makes the channel, or a request that comes now.
    void world.channels.get(from, to, 1n, RESERVE)
    expect(await next).toEqual({ channel: undefined, message: world.cid(2) })
    await world.execute(2)
    expect(world.channels.list()).toEqual([world.channel])
  })

  it('goes on after a failure to add', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await world.open(10n)
    await world.channels.get(from, to, 6n, RESERVE)
    await world.execute(2, 7)
    await expect(world.channels.waitReady(world.cid(2), never)).rejects.toThrow(
      'voucher channel creation failed: adding funds (exit code 7)',
    )
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({ confirmed: 10n, pending: 0n })
    expect(await world.channels.get(from, to, 6n, RESERVE)).toEqual({ channel: world.channel, message: world.cid(3) })
  })

  it('forgets a channel whose message lost its nonce to another one, and makes it for those that wait', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await world.channels.get(from, to, 10n, RESERVE)
    const ready = world.channels.waitReady(world.cid(1), never)
    const next = world.channels.get(from, to, 6n, RESERVE)
    world.replaced(1)
    await expect(ready).rejects.toThrow('message was replaced: by another')
    expect(await next).toEqual({ channel: undefined, message: world.cid(2) })
    world.restart()
    expect(world.isAwaited(1)).toBe(false)
    await expect(world.channels.waitReady(world.cid(1), never)).rejects.toMatchObject({ code: 'MESSAGE_FAILED' })
    await world.execute(2)
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({ confirmed: 6n, pending: 0n })
  })

  it('goes on when the message that adds funds lost its nonce to another one', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await world.open(10n)
    await world.channels.get(from, to, 6n, RESERVE)
    const next = world.channels.get(from, to, 5n, RESERVE)
    world.replaced(2)
    expect(await next).toEqual({ channel: world.channel, message: world.cid(3) })
    await expect(world.channels.waitReady(world.cid(2), never)).rejects.toThrow('message was replaced: by another')
    await world.execute(3)
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({ confirmed: 15n, pending: 0n })
    expect(world.pushed.map(({ value }) => value)).toEqual([10n, 6n, 5n])
  })

  it.each([
    ['that makes the channel', 1],
    ['that adds funds', 2],
  ])('goes on after a restart while the message waits %s', async (_, number) => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    if (number === 2) await world.open(10n)
    await world.channels.get(from, to, 10n, RESERVE)
    world.restart()
    const ready = world.channels.waitReady(world.cid(number), never)
    await world.execute(number)
    expect(await ready).toEqual(world.channel)
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({ confirmed: BigInt(number * 10) })
    expect(world.pushed).toHaveLength(number)
  })

  it('says of a message that it does not know it, and stops waiting when nobody listens', async () => {
    const world = new ChannelWorld()
    await expect(world.channels.waitReady(world.cid(9), never)).rejects.toThrow(
      `Could not find wait msg cid ${world.cid(9)}`,
    )
    await world.channels.get(world.from.address, world.to.address, 10n, RESERVE)
    const gone = new AbortController()
    const ready = world.channels.waitReady(world.cid(1), gone.signal)
    gone.abort()
    await expect(ready).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  it('waits for the disk, not for a restart, when it is full as a message is executed', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    await world.channels.get(from, to, 10n, RESERVE)
    const ready = world.channels.waitReady(world.cid(1), never)
    const more = world.channels.get(from, to, 5n, RESERVE)
    world.store.fault = 'write'
    world.done(1)
    await expect.poll(() => world.warnings).toHaveLength(1)
    expect(world.channels.list()).toEqual([])
    // Still full at the next head.
    world.channels.headChanged()
    await expect.poll(() => world.isAwaited(1)).toBe(true)
    world.done(1)
    await expect.poll(() => world.warnings).toHaveLength(2)
    world.store.fault = 'none'
    world.channels.headChanged()
    await expect.poll(() => world.isAwaited(1)).toBe(true)
    world.done(1)
    expect(await ready).toEqual(world.channel)
    expect(await more).toEqual({ channel: world.channel, message: world.cid(2) })
    world.restart()
    expect(await world.channels.waitReady(world.cid(1), never)).toEqual(world.channel)
  })

  it('listens to no connection for requests that were answered', async () => {
    const world = new ChannelWorld()
    const [from, to] = [world.from.address, world.to.address]
    const { signal } = new AbortController()
    await world.channels.get(from, to, 100n, FUND, signal)
    await world.execute(1)
    await world.channels.get(from, to, 1n, OFF_CHAIN, signal)
    await expect(world.channels.get(from, to, 1000n, OFF_CHAIN, signal)).rejects.toThrow('not enough funds')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('makes a new channel beside one that is settling', async () => {
    const world = new ChannelWorld()
    await world.open(10n)
    await world.vouchers.settle(world.channel)
    const again = await world.channels.get(world.from.address, world.to.address, 1n, RESERVE)
    expect(again).toEqual({ channel: undefined, message: world.cid(3) })
  })
})
