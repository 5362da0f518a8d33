/** Market funds against Lotus' rules (chain/market/fundmanager_test.go tells the same stories). */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { decode } from '../../src/codec/description.ts'
import { MarketFunds } from '../../src/payments/marketFunds.ts'
import type { PaymentDraft } from '../../src/payments/paymentDraft.ts'
import { withdrawBalanceParams } from '../../src/state/params/market.ts'
import { address, idAddress } from '../../src/types/address.ts'

const WALLET = idAddress(100n)
const CLIENT = idAddress(101n)
const nothing = (): void => undefined
const log: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

class World {
  readonly store = new MemoryStore()
  readonly pushed: PaymentDraft[] = []
  /** What is waited for, and who waits for something to be. */
  readonly #waits: (() => void)[] = []
  #waited: () => void = nothing
  escrow = 0n
  locked = 0n
  funds = this.open()

  open(): MarketFunds {
    return new MarketFunds({
      store: this.store,
      log,
      balance: () => ({ escrow: this.escrow, locked: this.locked }),
      push: (draft) => {
        this.pushed.push(draft)
        return Promise.resolve(this.cid(this.pushed.length))
      },
      wait: () =>
        new Promise<void>((resolve) => {
          this.#waits.push(resolve)
          this.#waited()
        }),
    })
  }

  cid(number: number): Cid {
    return createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, new Uint8Array(32).fill(number))
  }

  /** Executes the message that is waited for. */
  async executed(): Promise<void> {
    if (this.#waits.length === 0) {
      await new Promise<void>((resolve) => {
        this.#waited = resolve
      })
    }
    this.#waits.shift()?.()
  }
}

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
})
