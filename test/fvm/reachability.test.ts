/** Which blocks an actor may open; expectations from ref-fvm's call manager, kernel and executor. */
import { describe, expect, it } from 'vitest'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { type Cid, CODEC_DAG_CBOR, CODEC_RAW, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { ActorExit, Errno } from '../../src/fvm/kernel/outcomes.ts'
import { byteBlock, errnoOf, SELF } from './support/calls.ts'
import { testMessage, tinyMachine } from './support/tinyMachine.ts'

describe('reachability', () => {
  const linkTo = (target: Cid): Uint8Array => {
    const writer = new CborWriter()
    writer.cid(target)
    return writer.finish()
  }
  const store = (kernel: Kernel, codec: number, data: Uint8Array): Cid =>
    kernel.blockLink(kernel.blockCreate(codec, data), HASH_BLAKE2B_256, 32)

  it('opens only what was linked, received or returned (FVM 4)', () => {
    const seen: number[] = []
    const leaf = blockCid(Uint8Array.of(1), CODEC_RAW)
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          seen.push(errnoOf(() => kernel.blockOpen(leaf)))
          seen.push(errnoOf(() => kernel.blockCreate(CODEC_DAG_CBOR, linkTo(leaf))))
          seen.push(errnoOf(() => kernel.setRoot(leaf)))
          const { returnHandle, returnCodec } = kernel.send(SELF, 2n, 0, 0n)
          expect([returnHandle, returnCodec]).toEqual([1, CODEC_DAG_CBOR])
          // The callee returned a link to it.
          seen.push(errnoOf(() => kernel.blockOpen(leaf)))
          seen.push(kernel.send(SELF, 3n, returnHandle, 0n).exitCode)
          seen.push(kernel.send(SELF, 3n, 0, 0n).exitCode)
          return 0
        },
        2: (kernel) => kernel.blockCreate(CODEC_DAG_CBOR, linkTo(store(kernel, CODEC_RAW, Uint8Array.of(1)))),
        3: (kernel) => {
          if (errnoOf(() => kernel.blockOpen(leaf)) !== 0) throw new ActorExit(20, 'not reachable')
          return 0
        },
      },
    })
    const { trace } = executor.applyMessage(testMessage(1), 'explicit', 100)
    const { NotFound } = Errno
    expect(seen).toEqual([NotFound, NotFound, NotFound, 0, 0, 20])
    expect(trace?.ipldOps.map(({ op }) => op)).toEqual(['Get'])
    expect(trace?.subcalls[0]?.ipldOps.map(({ op }) => op)).toEqual(['Put'])
    // 75000 and 300 for the link in the parameters.
    expect(trace?.subcalls[1]?.gasCharges[0]).toEqual({ name: 'OnMethodInvocation', compute: 75_300_000, storage: 0 })
  })

  it('has limits on blocks and CIDs', () => {
    let seen: number[] = []
    const executor = tinyMachine({
      methods: {
        1: (kernel) => {
          const handle = byteBlock(kernel, 0)
          seen = [
            errnoOf(() => kernel.blockCreate(CODEC_RAW, new Uint8Array(2 ** 20 + 1))),
            errnoOf(() => kernel.blockCreate(0x70, Uint8Array.of(0))),
            errnoOf(() => kernel.blockCreate(CODEC_DAG_CBOR, Uint8Array.of(0, 0))),
            errnoOf(() => kernel.blockLink(handle, 0x12, 32)),
            errnoOf(() => kernel.blockLink(handle, HASH_BLAKE2B_256, 31)),
            errnoOf(() => kernel.blockLink(9, HASH_BLAKE2B_256, 32)),
            errnoOf(() => kernel.blockStat(0)),
          ]
          expect(kernel.blockRead(handle, 5, new Uint8Array(3))).toBe(1 - 8)
          return 0
        },
      },
    })
    executor.applyMessage(testMessage(1), 'explicit', 100)
    const { LimitExceeded, IllegalCodec, Serialization, IllegalCid, InvalidHandle } = Errno
    expect(seen).toEqual([
      LimitExceeded,
      IllegalCodec,
      Serialization,
      IllegalCid,
      IllegalCid,
      InvalidHandle,
      InvalidHandle,
    ])
  })
})
