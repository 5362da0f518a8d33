/** A method whose list tells how far it is: of so many items, all the same. */
import { listOrEmpty, text, uint } from '../../src/codec/description.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import { listing } from '../../src/rpc/listing.ts'
import { listMethod, type MethodRow, param } from '../../src/rpc/method.ts'

/** What was asked of its lists, together. */
export interface ListsSeen {
  items: number
  ended: number
}

/** `Many`: how many items, and which of them, from 1 on, is refused (0: none). */
export function manyMethod(item: string, seen: ListsSeen): MethodRow {
  function* items(count: number, failAt: number): IterableIterator<string> {
    try {
      for (let i = 1; i <= count; i++) {
        if (i === failAt) throw new RpcError('FAILED', `no item ${i}`)
        seen.items++
        yield item
      }
    } finally {
      seen.ended++
    }
  }
  return listMethod({
    ...{ name: 'Many', perm: 'read', cost: 'scan', result: listOrEmpty(text) },
    params: [param('count', uint), param('failAt', uint)],
    list: (count, failAt) => listing(text, () => items(count, failAt)),
  })
}
