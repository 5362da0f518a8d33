/** IDs of all 64 bits, which Lotus' addresses do not reach and the machine's do. @see ref-fvm fvm/src/state_tree.rs get_actor */
import { describe, expect, it } from 'vitest'
import { Errno } from '../../src/fvm/kernel/outcomes.ts'
import { actorKey, machineAddress, PROTOCOL_DELEGATED } from '../../src/types/address.ts'
import { byteBlock, errnoOf, returned } from './support/calls.ts'
import { testMessage, tinyMachine } from './support/tinyMachine.ts'

describe('IDs of 2^63 and more', () => {
  for (const id of [2n ** 62n, 2n ** 63n, 2n ** 64n - 1n]) {
    it(`${id}: there is no such actor`, () => {
      const key = actorKey(id)
      const delegated = machineAddress(Uint8Array.of(PROTOCOL_DELEGATED, ...key.subarray(1), 1))
      const executor = tinyMachine({
        methods: {
          1: (kernel) => {
            const ways = [
              () => kernel.balanceOf(id),
              () => kernel.getActorCodeCid(id),
              () => kernel.lookupDelegatedAddress(id),
              () => kernel.send(machineAddress(key), 0n, 0, 1n),
              () => kernel.resolveAddress(delegated),
              () => kernel.send(delegated, 0n, 0, 1n),
              () => kernel.selfDestructTo(machineAddress(key)),
            ]
            return byteBlock(kernel, ...ways.map(errnoOf), kernel.resolveAddress(machineAddress(key)) === id ? 1 : 0)
          },
        },
      })
      const result = executor.applyMessage(testMessage(1), 'explicit', 100)
      expect(result.receipt.exitCode).toBe(0)
      expect(returned(result)).toEqual([...new Array<number>(7).fill(Errno.NotFound), 1])
    })
  }
})
