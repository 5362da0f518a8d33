/** What every {@link KeyValueStore} must do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import { type KeyValueStore, MAX_STORE_KEY_BYTES } from '../../src/base/ports.ts'

/** How a suite gets a store. */
export interface StoreFactory {
  /** An empty store. */
  open(): Promise<KeyValueStore>
  /** Opens what was closed again; absent: the store keeps nothing. */
  reopen?(): Promise<KeyValueStore>
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

/** Declares the suite. */
export function keyValueStoreContract(name: string, factory: StoreFactory): void {
  describe(`key-value store: ${name}`, () => {
    let store: KeyValueStore

    beforeEach(async () => {
      store = await factory.open()
    })
    afterEach(() => store.close())

    const hexKeys = (prefix?: Uint8Array): string[] => [...store.keys(prefix)].map(toHex)

    it('gives back what was put', () => {
      expect(store.get(bytes(1))).toBeUndefined()
      expect(store.has(bytes(1))).toBe(false)
      store.put(bytes(1), bytes(9, 8))
      expect(store.get(bytes(1))).toEqual(bytes(9, 8))
      expect(store.has(bytes(1))).toBe(true)
      store.put(bytes(1), bytes(7))
      expect(store.get(bytes(1))).toEqual(bytes(7))
    })

    it('gives plain arrays', () => {
      store.put(bytes(1), bytes(9, 8))
      expect(Object.getPrototypeOf(store.get(bytes(1)))).toBe(Uint8Array.prototype)
      for (const key of store.keys()) expect(Object.getPrototypeOf(key)).toBe(Uint8Array.prototype)
    })

    it('keeps an empty value and a large one', () => {
      const large = new Uint8Array(1 << 20).map((_, i) => i % 251)
      store.put(bytes(1), bytes())
      store.put(bytes(2), large)
      expect(store.get(bytes(1))).toEqual(bytes())
      expect(store.has(bytes(1))).toBe(true)
      expect(toHex(store.get(bytes(2)) as Uint8Array)).toBe(toHex(large))
    })

    it('shares no memory with its callers', () => {
      const [key, value] = [bytes(1), bytes(2)]
      store.put(key, value)
      key[0] = 5
      value[0] = 5
      const first = store.get(bytes(1)) as Uint8Array
      expect(first).toEqual(bytes(2))
      first[0] = 6
      expect(store.get(bytes(1))).toEqual(bytes(2))
      store.get(bytes(9))
      store.put(bytes(3), bytes(3))
      expect(first).toEqual(bytes(6))
    })

    it('deletes', () => {
      store.put(bytes(1), bytes(2))
      store.delete(bytes(1))
      store.delete(bytes(1))
      expect(store.has(bytes(1))).toBe(false)
    })

    it('lists keys by prefix in order of bytes', () => {
      for (const key of [bytes(2), bytes(1, 255), bytes(1), bytes(255, 255), bytes(1, 0), bytes(255), bytes(0)]) {
        store.put(key, bytes(1))
      }
      expect(hexKeys()).toEqual(['00', '01', '0100', '01ff', '02', 'ff', 'ffff'])
      expect(hexKeys(bytes(1))).toEqual(['01', '0100', '01ff'])
      expect(hexKeys(bytes(1, 255))).toEqual(['01ff'])
      expect(hexKeys(bytes(255))).toEqual(['ff', 'ffff'])
      expect(hexKeys(bytes(3))).toEqual([])
    })

    it('lists keys while they are deleted', () => {
      for (let i = 0; i < 100; i++) store.put(bytes(7, i), bytes(i))
      for (const key of store.keys(bytes(7))) store.delete(key)
      expect(hexKeys(bytes(7))).toEqual([])
    })

    it('carries out a batch in order', () => {
      store.batch([
        { op: 'put', key: bytes(1), value: bytes(1) },
        { op: 'put', key: bytes(2), value: bytes(2) },
        { op: 'delete', key: bytes(1) },
        { op: 'put', key: bytes(2), value: bytes(3) },
      ])
      expect(hexKeys()).toEqual(['02'])
      expect(store.get(bytes(2))).toEqual(bytes(3))
    })

    it('carries out all of a batch or nothing', () => {
      const tooLong = new Uint8Array(MAX_STORE_KEY_BYTES + 1)
      const batch = [bytes(1), tooLong].map((key) => ({ op: 'put', key, value: bytes(1) }) as const)
      expect(() => store.batch(batch)).toThrow('store key')
      expect(hexKeys()).toEqual([])
    })

    it('commits all of a batch or nothing, beside other writes', async () => {
      store.put(bytes(2), bytes(1))
      const committed = store.commit([
        { op: 'put', key: bytes(1), value: bytes(1) },
        { op: 'delete', key: bytes(2) },
      ])
      store.batch([{ op: 'put', key: bytes(3), value: bytes(3) }])
      await committed
      expect(hexKeys()).toEqual(['01', '03'])
      const tooLong = new Uint8Array(MAX_STORE_KEY_BYTES + 1)
      const ops = [bytes(4), tooLong].map((key) => ({ op: 'put', key, value: bytes(1) }) as const)
      await expect(store.commit(ops)).rejects.toThrow('store key')
      expect(hexKeys()).toEqual(['01', '03'])
      await Promise.all(
        Array.from({ length: 50 }, (_, i) => store.commit([{ op: 'put', key: bytes(9, i), value: bytes(i) }])),
      )
      expect(hexKeys(bytes(9))).toHaveLength(50)
      expect(store.get(bytes(9, 49))).toEqual(bytes(49))
    })

    it('lets what is written while a commit is under way stand', async () => {
      const committed = store.commit(
        [1, 2, 3, 4].map((key) => ({ op: 'put', key: bytes(key), value: bytes(1) }) as const),
      )
      store.put(bytes(1), bytes(2))
      store.delete(bytes(2))
      store.batch([{ op: 'put', key: bytes(3), value: bytes(3) }])
      await committed
      expect([1, 2, 3, 4].map((key) => store.get(bytes(key)))).toEqual([bytes(2), undefined, bytes(3), bytes(1)])
      for (let turn = 0; turn < 60; turn++) {
        const [first, second] = [1, 2].map((value) =>
          store.commit([{ op: 'put', key: bytes(5), value: bytes(value, turn) }]),
        )
        // In the thread's hands, or on the disk, by then.
        if (turn % 3 === 1) await new Promise((resolve) => setTimeout(resolve))
        if (turn % 3 === 2) await first
        store.put(bytes(5), bytes(3, turn))
        await Promise.all([first, second])
        expect(store.get(bytes(5))).toEqual(bytes(3, turn))
      }
      expect(hexKeys()).toEqual(['01', '03', '04', '05'])
    })

    it('lets the later of two commits stand, whatever is written beside them', async () => {
      for (let turn = 0; turn < 20; turn++) {
        const first = store.commit([
          { op: 'put', key: bytes(1), value: bytes(1, turn) },
          { op: 'put', key: bytes(2), value: bytes(1, turn) },
        ])
        const second = store.commit([{ op: 'put', key: bytes(1), value: bytes(2, turn) }])
        store.put(bytes(2), bytes(3, turn))
        await first
        expect(store.get(bytes(1))?.[1]).toBe(turn)
        await second
        expect(store.get(bytes(1))).toEqual(bytes(2, turn))
        expect(store.get(bytes(2))).toEqual(bytes(3, turn))
      }
    })

    it('takes keys up to the bound and refuses others', () => {
      const longest = new Uint8Array(MAX_STORE_KEY_BYTES).fill(3)
      store.put(longest, bytes(1))
      expect(store.get(longest)).toEqual(bytes(1))
      for (const key of [new Uint8Array(0), new Uint8Array(MAX_STORE_KEY_BYTES + 1)]) {
        expect(() => store.put(key, bytes(1))).toThrow('store key')
        expect(() => store.get(key)).toThrow('store key')
      }
    })

    it('refuses everything once it is closed', async () => {
      store.put(bytes(1), bytes(1))
      await store.flush()
      await store.close()
      expect(() => store.get(bytes(1))).toThrow('closed')
      expect(() => store.put(bytes(1), bytes(1))).toThrow('closed')
      expect(() => [...store.keys()]).toThrow('closed')
    })

    it.skipIf(factory.reopen === undefined)('keeps everything over a restart', async () => {
      store.put(bytes(1), bytes(2))
      // On its way when the store is closed.
      const committed = store.commit([{ op: 'put', key: bytes(3), value: bytes(4) }])
      await store.close()
      await committed
      store = (await factory.reopen?.()) as KeyValueStore
      expect(store.get(bytes(1))).toEqual(bytes(2))
      expect(store.get(bytes(3))).toEqual(bytes(4))
    })
  })
}
