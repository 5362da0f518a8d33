/** A contract's storage is read out of a state that is there, also where an upgrade keeps the machine from calls. */
import { expect, test } from 'vitest'
import { ChainError } from '../../../src/chain/errors.ts'
import { CborReader } from '../../../src/codec/cborReader.ts'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import { CODEC_RAW } from '../../../src/codec/cid.ts'
import { MemoryBlockstore, putBlock, putCbor } from '../../../src/ipld/blockstore.ts'
import type { EthReader } from '../../../src/rpc/ethReader.ts'
import { ethAccountMethods } from '../../../src/rpc/methods/ethAccounts.ts'
import { evmStateAt } from '../../../src/state/evm.ts'
import type { Message } from '../../../src/types/message.ts'
import type { Tipset } from '../../../src/types/tipset.ts'
import { forkingChain, plainCall } from '../forkingChain.ts'

const ACTORS = 18
const UPGRADE = 5

function storageOf(value: Uint8Array) {
  const { store } = forkingChain(8)
  const blocks = new MemoryBlockstore()
  const bytecode = putBlock(blocks, Uint8Array.of(1), CODEC_RAW)
  const head = putCbor(blocks, evmStateAt(ACTORS), {
    ...{ bytecode, bytecodeHash: new Uint8Array(32), contractState: bytecode },
    ...{ transientData: null, nonce: 1n, tombstone: null },
  })
  const asked: { height: number; state: string; slot: Uint8Array }[] = []
  const callWithGas = async (message: Message, { height }: Tipset, { stateRoot }: { stateRoot: object }) => {
    const params = new CborReader(message.params)
    params.readArray()
    asked.push({ height, state: String(stateRoot), slot: params.readBytes() })
    if (height === UPGRADE || height === UPGRADE - 1) {
      throw new ChainError('EXPENSIVE_FORK', 'refusing explicit call due to state fork', { epoch: height })
    }
    const writer = new CborWriter()
    writer.bytes(value)
    return { msgRct: { exitCode: 0, return: writer.finish() } }
  }
  const root = (tipset: Tipset): string => `left by ${tipset.height}`
  const reader = {
    view: {
      store: Object.assign(store, { blocks }),
      codes: () => ({ kind: 'evm', actorsVersion: ACTORS }),
      stateTree: () => ({ lookupId: () => 1000n, getActor: () => ({ code: bytecode, head }) }),
    },
    vm: { callWithGas },
    tipset: (block: string) => store.findByHeight(Number(block), undefined, 'next'),
    stateRoot: async (tipset: Tipset) => root(tipset),
  } as unknown as EthReader
  const row = ethAccountMethods(reader, {} as never).find(({ name }) => name === 'EthGetStorageAt')
  const read = async (height: number): Promise<unknown> => {
    if (row?.kind !== 'call') throw new Error('no such row')
    return row.handle([new Uint8Array(20).fill(7), Uint8Array.of(3), `0x${height}`], plainCall())
  }
  return { asked, read }
}

test.each([
  ['beside an upgrade', 7, [7]],
  ['at the height of an upgrade with a migration', UPGRADE, [5, 4, 3]],
])('the value %s', async (_, height, heights) => {
  const { asked, read } = storageOf(Uint8Array.of(42))
  expect(await read(height)).toEqual(new Uint8Array(32).fill(42, 31))
  expect(asked).toEqual(
    heights.map((at) => ({ height: at, state: `left by ${height}`, slot: new Uint8Array(32).fill(3, 31) })),
  )
})
