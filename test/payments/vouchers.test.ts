/** Vouchers by Lotus' rules: the table and the numbers of its paychmgr/paych_test.go. */
import { describe, expect, it } from 'vitest'
import { ChannelWorld, newKey, signed } from './channelWorld.ts'

const NONE = new Uint8Array(0)

interface Case {
  readonly key?: 'to' | 'other'
  readonly balance: bigint
  readonly amount: bigint
  readonly lane?: number
  readonly nonce?: number
  readonly lanes?: readonly (readonly [lane: number, redeemed: bigint, nonce: number])[]
  readonly error?: string
}

describe('a voucher', () => {
  it.each<[string, Case]>([
    ['below the balance passes', { balance: 10n, amount: 5n }],
    [
      'above it fails',
      { balance: 5n, amount: 10n, error: 'not enough funds in channel to cover voucher - shortfall: 5' },
    ],
    ['of another key fails', { key: 'other', balance: 10n, amount: 5n, error: 'signature did not match' }],
    ['of the one who is paid fails', { key: 'to', balance: 10n, amount: 5n, error: 'signature did not match' }],
    [
      'with a nonce too low fails',
      { balance: 10n, amount: 5n, lane: 1, nonce: 2, lanes: [[1, 2n, 3]], error: 'nonce too low' },
    ],
    ['with a higher nonce passes', { balance: 10n, amount: 5n, lane: 1, nonce: 3, lanes: [[1, 2n, 2]] }],
    ['of another lane passes', { balance: 10n, amount: 5n, lane: 2, nonce: 2, lanes: [[1, 2n, 3]] }],
    [
      'with a higher nonce and less value fails',
      {
        balance: 10n,
        amount: 5n,
        lane: 1,
        nonce: 3,
        lanes: [[1, 6n, 2]],
        error: 'voucher amount is lower than amount for voucher with lower nonce',
      },
    ],
    ['takes the place of its lane', { balance: 10n, amount: 6n, lane: 1, nonce: 2, lanes: [[1, 4n, 1]] }],
    [
      'counts beside other lanes',
      { balance: 10n, amount: 6n, lane: 1, nonce: 1, lanes: [[2, 5n, 1]], error: 'shortfall: 1' },
    ],
    [
      'counts beside other lanes, in place of its own',
      {
        balance: 10n,
        amount: 6n,
        lane: 1,
        nonce: 2,
        lanes: [
          [1, 5n, 1],
          [2, 5n, 1],
        ],
        error: 'shortfall: 1',
      },
    ],
    [
      'may use all that there is',
      {
        balance: 10n,
        amount: 5n,
        lane: 1,
        nonce: 2,
        lanes: [
          [1, 4n, 1],
          [2, 5n, 1],
        ],
      },
    ],
  ])('%s', async (_, { key, balance, amount, lane = 0, nonce = 0, lanes = [], error }) => {
    const world = new ChannelWorld()
    world.wallet.push(world.to)
    const states = new Map(lanes.map(([one, redeemed, last]) => [one, { redeemed, nonce: last }] as const))
    world.onChain = { balance, lanes: states, isSettling: false }
    const signer = key === 'to' ? world.to : key === 'other' ? newKey() : world.from
    const voucher = signed(world.voucher({ lane, nonce, amount }), signer)
    const check = world.vouchers.checkValid(world.channel, voucher)
    if (error === undefined) await check
    else await expect(check).rejects.toThrow(error)
  })

  it.each([
    ['voucher is Max Time Locked', { timeLockMax: 5n }],
    ['voucher is Min Time Locked', { timeLockMin: 5n }],
    ['voucher is Hash Locked', { secretHash: Uint8Array.of(1) }],
    ['voucher is Message Locked', { extra: { actor: newKey().address, method: 2n, data: NONE } }],
    ["don't currently support paych lane merges", { merges: [{ lane: 1, nonce: 1 }] }],
    ["voucher ChannelAddr doesn't match channel address", { channelAddr: newKey().address }],
  ])('%s', async (text, terms) => {
    const world = new ChannelWorld()
    await world.open(10n)
    const voucher = signed(world.voucher(terms), world.from)
    await expect(world.vouchers.checkValid(world.channel, voucher)).rejects.toThrow(text)
  })

  it('gets the nonce after the last of its lane; without funds the shortfall', async () => {
    const world = new ChannelWorld()
    await world.open(10n)
    const create = (lane: number, amount: bigint) => world.vouchers.create(world.channel, { lane, amount })
    expect(await create(1, 5n)).toMatchObject({ voucher: { nonce: 1, amount: 5n }, shortfall: 0n })
    expect(await create(1, 8n)).toMatchObject({ voucher: { nonce: 2, amount: 8n } })
    expect(await create(2, 2n)).toMatchObject({ voucher: { nonce: 1, amount: 2n } })
    expect(await create(2, 3n)).toEqual({ voucher: null, shortfall: 1n })
    expect(await world.channels.availableFunds(world.channel)).toMatchObject({ redeemed: 10n })
    world.restart()
    expect(world.vouchers.list(world.channel)).toHaveLength(3)
    expect(await world.vouchers.allocateLane(world.channel)).toBe(3)
    world.restart()
    expect(await world.vouchers.allocateLane(world.channel)).toBe(4)
  })

  it('is worth what it has beyond the best of its lane', async () => {
    const world = new ChannelWorld()
    world.wallet.splice(0, 1, world.to)
    world.onChain = { ...world.onChain, balance: 100n }
    const add = (lane: number, nonce: number, amount: bigint) =>
      world.vouchers.add(world.channel, signed(world.voucher({ lane, nonce, amount }), world.from), NONE, 2n)
    await expect(add(1, 1, 1n)).rejects.toThrow(
      'addVoucher: supplied token amount too low; minD=2, D=1; laneAmt=0; v.Amt=1',
    )
    expect(await add(1, 2, 2n)).toBe(2n)
    expect(await add(1, 3, 5n)).toBe(3n)
    expect(await add(2, 1, 6n)).toBe(6n)
    // The same once more changes nothing.
    expect(await add(2, 1, 6n)).toBe(0n)
    expect(world.vouchers.list(world.channel)).toHaveLength(3)
    expect(world.channels.required(world.channel)).toMatchObject({ direction: 1, nextLane: 3 })
  })

  it('for a channel that pays somebody else is refused', async () => {
    const world = new ChannelWorld()
    world.onChain = { ...world.onChain, balance: 100n }
    const voucher = signed(world.voucher({}), world.from)
    await expect(world.vouchers.add(world.channel, voucher, NONE, 0n)).rejects.toThrow(
      'wallet does not have key for address',
    )
    expect(world.channels.list()).toEqual([])
  })

  it('goes to the chain once, and earlier ones of its lane with it', async () => {
    const world = new ChannelWorld()
    world.wallet.splice(0, 1, world.to)
    world.onChain = { ...world.onChain, balance: 100n }
    const vouchers = [1, 2, 3].map((nonce) => signed(world.voucher({ nonce, amount: BigInt(nonce) }), world.from))
    const other = signed(world.voucher({ lane: 7, amount: 9n }), world.from)
    for (const one of [...vouchers, other]) await world.vouchers.add(world.channel, one, NONE, 0n)
    expect(await world.vouchers.bestSpendable(world.channel)).toEqual([vouchers[2], other])
    const [, second, third] = vouchers as [(typeof vouchers)[0], (typeof vouchers)[0], (typeof vouchers)[0]]
    await world.vouchers.submit(world.channel, second, NONE, NONE)
    expect(world.pushed[0]).toMatchObject({ to: world.channel, from: world.to.address, value: 0n, method: 2n })
    await expect(world.vouchers.submit(world.channel, second, NONE, NONE)).rejects.toThrow(
      'cannot submit voucher that has already been submitted',
    )
    expect(await world.vouchers.checkSpendable(world.channel, second, NONE, NONE)).toBe(false)
    expect(await world.vouchers.checkSpendable(world.channel, third, NONE, NONE)).toBe(true)
    world.restart()
    const submitted = world.channels.required(world.channel).vouchers.map((one) => one.submitted)
    expect(submitted).toEqual([true, true, false, false])
    world.exitCode = 16
    expect(await world.vouchers.bestSpendable(world.channel)).toEqual([])
    await expect(world.vouchers.submit(world.channel, third, NONE, Uint8Array.of(1))).rejects.toThrow(
      'payment channel proof parameter is not supported',
    )
  })
})
