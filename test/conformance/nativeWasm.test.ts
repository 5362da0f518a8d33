/**
 * Native actors beside the Wasm actors of the bundle, on messages that no recorded chain has: same exit codes, returned
 * values, block operations and system calls, call by call, and nearly the same gas.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { carBlocks } from '../../src/archive/car.ts'
import type { InvocResult } from '../../src/chain/vm.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { chargeTotal } from '../../src/fvm/gas/charge.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import type { ExecutionTrace } from '../../src/fvm/trace.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import { type DevnetNode, devnetNode, signedBy } from '../support/devnetNode.ts'
import { accountSteps } from './accountSteps.ts'
import { minerSteps } from './minerSteps.ts'
import { creationSteps, walletSteps } from './multisigSteps.ts'
import { singletonSteps } from './singletonSteps.ts'
import { castOf, NOTHING, type Step } from './wasmSteps.ts'

const MANIFEST = 'bafy2bzaced35gjxagazf2fne5dakbok5abmivsh7cq7huwfuptebgwjmcpcf6'
const GAS_TOLERANCE = 0.15
const APPROXIMATED = new Set(['wasm_exec', 'wasm_memory_grow'])

const missing = missingBundle(MANIFEST)
if (missing !== undefined) console.warn(`skipped: ${missing}`)

function comparable(trace: ExecutionTrace): unknown {
  return {
    exitCode: trace.msgRct.exitCode,
    return: trace.msgRct.return,
    returnCodec: trace.msgRct.returnCodec,
    method: trace.msg.method,
    params: trace.msg.params,
    ipldOps: trace.ipldOps.map((one) => `${one.op} ${one.cid.toString()}`),
    charges: trace.gasCharges.map((one) => (APPROXIMATED.has(one.name) ? one.name : `${one.name} ${chargeTotal(one)}`)),
    subcalls: trace.subcalls.map(comparable),
  }
}

beforeAll(initCrypto)

describe.skipIf(missing !== undefined)('native actors beside Wasm actors', () => {
  it('agree', { timeout: 300_000 }, async () => {
    const bundle = new MemoryBlockstore()
    for (const [cid, data] of carBlocks(memorySource(readBundle(MANIFEST)))) bundle.put(cid, data)
    const node: DevnetNode = devnetNode()
    const wasm = new LocalVmHost({
      view: node.view,
      proofs: acceptAllProofs,
      codeLoaders: createCodeLoaders({ blocks: new LayeredBlockstore([node.store.blocks, bundle]) }),
    })
    const cast = castOf(node)
    const run = async (list: readonly Step[]): Promise<InvocResult[]> => {
      const out: InvocResult[] = []
      for (const step of list) {
        const { stateRoot } = await node.vm.tipsetState(node.store.head())
        const tree = node.view.stateTree(stateRoot)
        const nonce = tree.getActor(tree.lookupId(step.from.address)!)!.nonce
        node.pending.splice(
          0,
          node.pending.length,
          signedBy(step.from, {
            to: step.to,
            value: step.value ?? 0n,
            nonce,
            method: step.method ?? 0n,
            params: step.params ?? NOTHING,
            gasLimit: step.gasLimit ?? 60_000_000n,
          }),
        )
        const tipset = await node.devnet.mine()
        const [native, reference] = [
          await node.vm.compute(tipset, tipset.height, []),
          await wasm.compute(tipset, tipset.height, []),
        ]
        expect(native.trace.length, step.name).toBe(reference.trace.length)
        for (const [i, one] of native.trace.entries()) {
          const other = reference.trace[i]!
          // Where gas runs out depends on the instructions, which are approximated.
          if (one.msgRct.exitCode !== 7) {
            expect(comparable(one.executionTrace), step.name).toEqual(comparable(other.executionTrace))
          }
          expect(one.msgRct.exitCode, step.name).toBe(other.msgRct.exitCode)
          const gas = Number(one.msgRct.gasUsed) / Number(other.msgRct.gasUsed)
          expect(Math.abs(gas - 1), `${step.name}: gas ${gas}`).toBeLessThan(GAS_TOLERANCE)
        }
        const explicit = native.trace.find((one) => one.gasCost.message !== null)!
        expect.soft(explicit.msgRct.exitCode, step.name).toBe(step.exitCode ?? 0)
        out.push(explicit)
      }
      return out
    }
    const results = await run(creationSteps(cast))
    const created = results.at(-1)!.msgRct.return
    expect(created.length).toBeGreaterThan(0)
    const id = readIdAddress(created)

    await run(walletSteps(cast, id))
    await run(minerSteps(cast, id))
    await run([...accountSteps(cast), ...singletonSteps(cast)])
  })
})

/** The f0 address in an ExecReturn. */
function readIdAddress(result: Uint8Array): Address {
  const length = result[1]! & 0x1f
  let id = 0n
  for (let i = length - 1; i >= 1; i--) id = (id << 7n) | BigInt(result[2 + i]! & 0x7f)
  return idAddress(id)
}
