/** How long an item of F3's data in a snapshot may be. */
import { expect, it } from 'vitest'
import { concatBytes } from '../../src/base/bytes.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { MAX_F3_ITEM_BYTES } from '../../src/sync/limits.ts'
import { encodeF3Header, F3DataReader } from '../../src/sync/snapshot/f3Data.ts'

it('a certificate of the longest is read; of one that is a byte longer its length is enough', () => {
  const header = encodeF3Header({ firstInstance: 0, latestInstance: 0, initialPowerTable: Uint8Array.of(0x80) })
  const lengths: number[] = []
  const begun = (length: number): F3DataReader => {
    const reader = new F3DataReader({
      header: () => undefined,
      certificate: (bytes) => void lengths.push(bytes.length),
    })
    reader.write(concatBytes(varintBytes(header.length), header))
    reader.write(varintBytes(length))
    return reader
  }
  const most = begun(MAX_F3_ITEM_BYTES)
  most.write(new Uint8Array(MAX_F3_ITEM_BYTES))
  most.end()
  expect(lengths).toEqual([MAX_F3_ITEM_BYTES])
  expect(() => begun(MAX_F3_ITEM_BYTES + 1)).toThrow(`an item of ${MAX_F3_ITEM_BYTES + 1} bytes`)
})
