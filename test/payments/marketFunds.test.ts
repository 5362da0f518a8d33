/** Market funds against Lotus' rules (chain/market/fundmanager_test.go tells the same stories). */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { decode } from '../../src/codec/description.ts'
import { MarketFunds } from '../../src/payments/marketFunds.ts'
import type { PaymentDraft } from '../../src/payments/paymentDraft.ts'
import type { CallContext, CallRow } from '../../src/rpc/method.ts'
import { marketMethods } from '../../src/rpc/methods/market.ts'
import { withdrawBalanceParams } from '../../src/state/params/market.ts'
import { address, idAddress } from '../../src/types/address.ts'

const WALLET = idAddress(100n)
const CLIENT = idAddress(101n)
const nothing = (): void => undefined
const log: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

class World {
  readonly store = new MemoryStore()
  readonly pushed: PaymentDraft[] = []
  readonly signals: (AbortSignal | undefined)[] = []
  /** What is waited for, and who waits for something to be. */
  readonly #waits: PromiseWithResolvers<void>[] = []
  #waited: () => void = nothing
  /** What becomes of a push: it fails, or the process ends when the message is on disk. */
  fate: 'ok' | 'fails' | 'killed' = 'ok'
  escrow = 0n
  locked = 0n
  funds = this.open()

  /** A new process on the same store. */
  open(): MarketFunds {
    this.#waits.length = 0
    return new MarketFunds({
      store: this.store,
      log,
      balance: () => ({ escrow: this.escrow, locked: this.locked }),
      push: (draft, writes, signal) => {
        if (this.fate === 'fails') return Promise.reject(new TypeError('the disk is full'))
        this.signals.push(signal)
        this.pushed.push(draft)
        const message = this.cid(this.pushed.length)
        for (const { key, value } of writes?.(message) ?? []) this.store.put(key, value)
        return this.fate === 'killed' ? new Promise(nothing) : Promise.resolve(message)
      },
      wait: () => {
        const wait = Promise.withResolvers<void>()
        this.#waits.push(wait)
        this.#waited()
        return wait.promise
      },
    })
  }

  cid(number: number): Cid {
    return createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, new Uint8Array(32).fill(number))
  }

  /** How many messages are waited for. */
  get awaited(): number {
    return this.#waits.length
  }

  /** Executes the message that is waited for. */
  async executed(): Promise<void> {
    const { resolve } = await this.#nextWait()
    resolve()
  }

  /** The waiting ends in an error. */
  async failed(error: Error): Promise<void> {
    const { reject } = await this.#nextWait()
    reject(error)
  }

  async #nextWait(): Promise<PromiseWithResolvers<void>> {
    if (this.#waits.length === 0) {
      await new Promise<void>((resolve) => {
        this.#waited = resolve
      })
    }
    return this.#waits.shift() as PromiseWithResolvers<void>
  }
}

/** Lets everything run that can. */
async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

/** What a node's stop makes of what waits. */
const STOPPED = new ChainError('CANCELLED', 'context canceled')

describe('market funds', () => {
  it('sends only what the balance lacks', async () => {
    const world = new World()
    world.escrow = 8n
    world.locked = 2n
    expect(await world.funds.reserve(WALLET, CLIENT, 4n)).toBeNull()
    expect(await world.funds.reserve(WALLET, CLIENT, 5n)).toEqual(world.cid(1))
    expect(world.pushed).toHaveLength(1)
    const [draft] = world.pushed as [PaymentDraft]
    expect(draft).toMatchObject({ from: WALLET, to: idAddress(5n), value: 3n, method: 2n })
    expect(decode(address, draft.params)).toEqual(CLIENT)
    expect(world.funds.reserved(CLIENT)).toBe(9n)
  })

  it('waits for the message before, also after a restart', async () => {
    const world = new World()
    await world.funds.reserve(WALLET, CLIENT, 10n)
    world.funds = world.open()
    const release = world.funds.release(CLIENT, 4n)
    world.escrow = 10n
    const withdrawal = world.funds.withdraw(WALLET, CLIENT, 4n)
    expect(world.pushed).toHaveLength(1)
    await world.executed()
    await release
    expect(await withdrawal).toEqual(world.cid(2))
    expect(world.funds.reserved(CLIENT)).toBe(6n)
    expect(decode(withdrawBalanceParams, (world.pushed[1] as PaymentDraft).params).amount).toBe(4n)
  })

  it('keeps what is reserved', async () => {
    const world = new World()
    world.escrow = 10n
    await world.funds.reserve(WALLET, CLIENT, 7n)
    await expect(world.funds.withdraw(WALLET, CLIENT, 4n)).rejects.toMatchObject({ code: 'NOT_ENOUGH_FUNDS' })
    expect(await world.funds.withdraw(WALLET, CLIENT, 0n)).toBeNull()
    await world.funds.release(CLIENT, 100n)
    expect(world.funds.reserved(CLIENT)).toBe(0n)
  })

  it('makes nothing of requests whose callers have left while they waited', async () => {
    const world = new World()
    const rows = marketMethods({ funds: world.funds, push: () => Promise.resolve(world.cid(99)) })
    const call = (name: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown> => {
      const row = rows.find((one) => one.name === name) as CallRow
      return Promise.resolve(row.handle(args, { signal } as CallContext))
    }
    const gone = new AbortController()
    const { signal } = new AbortController()
    await call('MarketReserveFunds', [WALLET, CLIENT, 10n], signal)
    const left = [
      call('MarketReserveFunds', [WALLET, CLIENT, 10n], gone.signal),
      call('MarketReleaseFunds', [CLIENT, 3n], gone.signal),
      call('MarketWithdraw', [WALLET, CLIENT, 1n], gone.signal),
    ].map((one) => expect(one).rejects.toMatchObject({ code: 'CANCELLED' }))
    const stays = call('MarketReserveFunds', [WALLET, CLIENT, 5n], signal)
    gone.abort()
    world.escrow = 10n
    await world.executed()
    expect(await stays).toEqual(world.cid(2))
    await Promise.all(left)
    expect(world.pushed.map(({ value }) => value)).toEqual([10n, 5n])
    expect(world.funds.reserved(CLIENT)).toBe(15n)
    expect(world.signals).toEqual([signal, signal])
  })

  it('sends nothing when the node stops, and waits for the message again after it', async () => {
    const world = new World()
    await world.funds.reserve(WALLET, CLIENT, 10n)
    const waiting = expect(world.funds.reserve(WALLET, CLIENT, 5n)).rejects.toMatchObject({ code: 'CANCELLED' })
    await turns()
    await world.failed(STOPPED)
    await waiting
    world.funds = world.open()
    const again = world.funds.reserve(WALLET, CLIENT, 5n)
    world.escrow = 10n
    await world.executed()
    expect(await again).toEqual(world.cid(2))
    expect(world.pushed.map(({ value }) => value)).toEqual([10n, 5n])
  })

  it('waits again for a message that could not be looked for, and goes on without one that nobody knows', async () => {
    const world = new World()
    await world.funds.reserve(WALLET, CLIENT, 10n)
    const fault = new TypeError('the disk is full')
    const release = expect(world.funds.release(CLIENT, 1n)).rejects.toBe(fault)
    await turns()
    await world.failed(fault)
    await release
    const again = world.funds.reserve(WALLET, CLIENT, 1n)
    await world.failed(new ChainError('NOT_FOUND', 'failed to load message'))
    expect(await again).toEqual(world.cid(2))
    expect(world.pushed.map(({ value }) => value)).toEqual([10n, 11n])
  })

  it.each(['in the same process', 'after a restart'])(
    'goes on, %s, when the nonce of its message went to another one',
    async (when) => {
      const world = new World()
      await world.funds.reserve(WALLET, CLIENT, 10n)
      if (when !== 'in the same process') world.funds = world.open()
      const release = world.funds.release(CLIENT, 4n)
      const more = world.funds.reserve(WALLET, CLIENT, 1n)
      await turns()
      expect(world.pushed).toHaveLength(1)
      await world.failed(new ChainError('MESSAGE_REPLACED', 'message was replaced'))
      await release
      expect(await more).toEqual(world.cid(2))
      // All that is reserved: the first message brought nothing.
      expect(world.pushed.map(({ value }) => value)).toEqual([10n, 7n])
      expect(world.funds.reserved(CLIENT)).toBe(7n)
    },
  )

  it('waits for a message from its sending on, and once for all that ask', async () => {
    const world = new World()
    await world.funds.reserve(WALLET, CLIENT, 10n)
    expect(world.awaited).toBe(1)
    world.escrow = 10n
    const requests = [world.funds.release(CLIENT, 1n), world.funds.release(CLIENT, 2n)]
    await turns()
    expect(world.awaited).toBe(1)
    await world.executed()
    await Promise.all(requests)
    expect(world.funds.reserved(CLIENT)).toBe(7n)
  })

  it('lets go whose caller leaves, and waits for the message all the same', async () => {
    const world = new World()
    await world.funds.reserve(WALLET, CLIENT, 10n)
    const gone = new AbortController()
    const left = world.funds.reserve(WALLET, CLIENT, 5n, gone.signal)
    await turns()
    gone.abort()
    await expect(left).rejects.toMatchObject({ code: 'CANCELLED' })
    const stays = world.funds.reserve(WALLET, CLIENT, 1n)
    await turns()
    expect(world.pushed).toHaveLength(1)
    world.escrow = 10n
    await world.executed()
    expect(await stays).toEqual(world.cid(2))
    expect(world.pushed.map(({ value }) => value)).toEqual([10n, 1n])
  })

  it('has its record with the message: a kill or a failure between them neither loses nor repeats anything', async () => {
    const world = new World()
    world.fate = 'fails'
    await expect(world.funds.reserve(WALLET, CLIENT, 10n)).rejects.toThrow('the disk is full')
    expect(world.funds.reserved(CLIENT)).toBe(0n)
    world.fate = 'killed'
    void world.funds.reserve(WALLET, CLIENT, 10n)
    while (world.pushed.length === 0) await Promise.resolve()
    world.fate = 'ok'
    world.funds = world.open()
    expect(world.funds.reserved(CLIENT)).toBe(10n)
    const more = world.funds.withdraw(WALLET, CLIENT, 2n)
    world.escrow = 12n
    await world.executed()
    expect(await more).toEqual(world.cid(2))
    expect(world.pushed).toHaveLength(2)
  })
})
