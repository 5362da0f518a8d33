/**
 * Numbers of 64 bits out of contracts and parameters: what a contract asks of an ID of 2^63 and more, and parameters of Exec
 * with a code CID of wide codes, end as those of smaller ones do.
 * @see builtin-actors actors/evm/src/interpreter/precompiles/fvm.rs; actors/init/src/lib.rs exec
 */
import { describe, expect, it } from 'vitest'
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { createExecutor, implicitMessage } from '../../src/execution/executeTipset.ts'
import type { ApplyResult } from '../../src/fvm/executor.ts'
import { OverlayBlockstore } from '../../src/ipld/blockstore.ts'
import { type Address, delegatedAddress, idAddress } from '../../src/types/address.ts'
import { EvmMethod } from '../../src/types/methodNumbers.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { missingShared } from '../support/shared.ts'
import { missingActors, wasmActors } from './support/actorCode.ts'
import { executionDeps, openGoldenChain } from './support/goldenChain.ts'

const CHAIN = 'nv28'
const NOTHING = new Uint8Array(0)
const SENDER = delegatedAddress(10n, new Uint8Array(20).fill(7))

type Apply = (to: Address, method: bigint, params: Uint8Array) => ApplyResult

function openMachine(): Apply {
  const golden = openGoldenChain(CHAIN)
  const tipset = golden.chain.head()
  const block = firstBlock(tipset)
  const deps = executionDeps(golden, tipset, wasmActors(golden.bundles, 28), new OverlayBlockstore(golden.store))
  const executor = createExecutor(deps, block.parentStateRoot, tipset.height, block.timestamp, 0n, true)
  executor.applyMessage(implicitMessage(SENDER, 0n, tipset.height, NOTHING), 'implicit', 0)
  let nonce = 0n
  return (to, method, params) => {
    const call = { version: 0, to, from: SENDER, nonce: nonce++, value: 0n, method, params } as const
    const gas = { gasLimit: 2_000_000_000n, gasFeeCap: 0n, gasPremium: 0n }
    return executor.applyMessage({ ...call, ...gas }, 'explicit', 300)
  }
}

function byteString(data: Uint8Array): Uint8Array {
  const writer = new CborWriter()
  writer.bytes(data)
  return writer.finish()
}

const hex = (value: bigint | number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0')
const masked = (id: bigint): string => `73ff${'00'.repeat(11)}${hex(id, 8)}`
/** Ends with what is on the stack, and the word at 0x200. */
const END = '610220526040610200f3'

/** EVM code that names an ID. */
const PROGRAMS: Readonly<Record<string, (id: bigint) => string>> = {
  BALANCE: (id) => `${masked(id)}31${END}`,
  EXTCODESIZE: (id) => `${masked(id)}3b${END}`,
  EXTCODEHASH: (id) => `${masked(id)}3f${END}`,
  EXTCODECOPY: (id) => `60206000610200${masked(id)}3c6040610200f3`,
  CALL: (id) => `6020610200600060006000${masked(id)}5af1${END}`,
  'CALL with value': (id) => `6020610200600060006001${masked(id)}5af1${END}`,
  SELFDESTRUCT: (id) => `${masked(id)}ff`,
  lookup_delegated_address: (id) =>
    `67${hex(id, 8)}60005260206102006020600073fe000000000000000000000000000000000000025afa${END}`,
  call_actor_id: (id) =>
    `60c060805267${hex(id, 8)}60a052602061020060e0600073fe000000000000000000000000000000000000055af4${END}`,
  resolve_address: (id) => {
    const address = `04${toHex(varintBytes(id))}0101`
    const length = hex(address.length / 2, 1)
    return `7f${address.padEnd(64, '0')}600052602061020060${length}600073fe000000000000000000000000000000000000015afa${END}`
  },
}

/** Exit code, gas, and what the last word and the stack were, of a call of a new contract. */
function runProgram(apply: Apply, code: string): { outcome: string; gas: bigint } {
  const run = fromHex(code)
  const made = apply(
    idAddress(10n),
    4n,
    byteString(concatBytes(fromHex(`60${hex(run.length, 1)}80600b6000396000f3`), run)),
  )
  expect(made.receipt.exitCode, made.error).toBe(0)
  const reader = new CborReader(made.receipt.return)
  reader.readArray()
  const { receipt } = apply(idAddress(reader.readUint()), EvmMethod.InvokeContract, NOTHING)
  return { outcome: `${receipt.exitCode} ${toHex(receipt.return)}`, gas: receipt.gasUsed }
}

/** Parameters of Exec: a code CID, and no bytes for the constructor. */
function execOf(codec: bigint, hashCode: bigint): Uint8Array {
  const cid = concatBytes(...[1n, codec, hashCode, 32n].map(varintBytes), new Uint8Array(32).fill(7))
  return Uint8Array.of(0x82, 0xd8, 42, 0x58, cid.length + 1, 0, ...cid, 0x40)
}

describe('numbers of 64 bits', () => {
  const missing = missingShared(`data/golden/${CHAIN}`)

  it.skipIf(missing !== undefined)('in contracts', { timeout: 300_000 }, ({ skip }) => {
    const noActors = missingActors(openGoldenChain(CHAIN).network)
    skip(noActors !== undefined, noActors)
    const apply = openMachine()
    for (const [name, program] of Object.entries(PROGRAMS)) {
      const small = runProgram(apply, program(1n << 62n))
      for (const id of [1n << 63n, (1n << 64n) - 1n]) {
        const { outcome, gas } = runProgram(apply, program(id))
        expect(outcome, `${name} ${id}`).toBe(small.outcome)
        // The actor itself works longer on a varint of ten bytes.
        const more = gas - small.gas
        expect(more >= 0n && more < 400n, `${name} ${id}: ${more}`).toBe(true)
      }
    }
  })

  it.skipIf(missing !== undefined)('in code CIDs', { timeout: 300_000 }, ({ skip }) => {
    const noActors = missingActors(openGoldenChain(CHAIN).network)
    skip(noActors !== undefined, noActors)
    const apply = openMachine()
    for (const code of [1n << 52n, 1n << 53n, 1n << 62n, 1n << 63n, (1n << 64n) - 1n]) {
      for (const params of [execOf(code, 0xb220n), execOf(0x55n, code)]) {
        // USR_FORBIDDEN: no actor that may be made.
        expect(apply(idAddress(1n), 2n, params).receipt.exitCode, String(code)).toBe(18)
      }
    }
  })
})
