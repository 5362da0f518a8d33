/**
 * Native actors against the recorded chains: each message that they can execute has the recorded exit codes, returned
 * values, block operations (so the recorded new states) and system calls, call by call, and nearly the recorded gas.
 */
import { describe, expect, it } from 'vitest'
import { createNativeActors } from '../../src/actors/nativeActors.ts'
import { DEVNET_POLICY } from '../../src/actors/policy.ts'
import { carBlocks } from '../../src/archive/car.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { VmError } from '../../src/fvm/errors.ts'
import { chargeTotal } from '../../src/fvm/gas/charge.ts'
import type { CodeLoader } from '../../src/fvm/kernel/kernel.ts'
import type { ExecutionTrace } from '../../src/fvm/trace.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import type { Row } from '../support/recorded.ts'
import { openRecordedChain, replayTipset } from '../support/recordedExecution.ts'
import { missingShared } from '../support/shared.ts'

/** Least number of messages compared, so that the test cannot pass by comparing nothing. */
const CHAINS = [
  { name: 'nv28', compared: 390, roots: 89, isWhole: true },
  { name: 'nv28-deadlines', compared: 500, roots: 145, isWhole: true },
  // Before the upgrade its actors are older ones.
  { name: 'up-27-28', compared: 200, roots: 55, isWhole: false },
]
const NETWORK_VERSION = 28
const GAS_TOLERANCE = 0.15
/** Charges whose amount stands for instructions; the others are exact. */
const APPROXIMATED = new Set(['wasm_exec', 'wasm_memory_grow'])

function wasmLoader(manifestCid: string): CodeLoader | undefined {
  const missing = missingBundle(manifestCid)
  if (missing !== undefined) {
    console.warn(`messages behind those of other actors are not compared: ${missing}`)
    return undefined
  }
  const bundle = new MemoryBlockstore()
  for (const [cid, data] of carBlocks(memorySource(readBundle(manifestCid)))) bundle.put(cid, data)
  return createCodeLoaders({ blocks: bundle })(NETWORK_VERSION)
}

interface Comparable {
  exitCode: number
  return: Json
  method: string
  params: Json
  value: string
  ipldOps: string[]
  charges: string[]
  subcalls: Comparable[]
}

function charge(name: string, total: number): string {
  return APPROXIMATED.has(name) ? name : `${name} ${total}`
}

function ofRecorded(trace: Row): Comparable {
  const msg = trace.Msg as Row
  const result = trace.MsgRct as Row
  return {
    exitCode: Number(result.ExitCode),
    return: result.Return ?? null,
    method: String(msg.Method),
    params: msg.Params ?? null,
    value: String(msg.Value),
    ipldOps: ((trace.IpldOps ?? []) as Row[]).map((one) => `${one.Op} ${(one.Cid as Row)['/']} ${one.Size}`),
    charges: ((trace.GasCharges ?? []) as Row[]).map((one) => charge(String(one.Name), Number(one.tg))),
    subcalls: ((trace.Subcalls ?? []) as Row[]).map(ofRecorded),
  }
}

function bytesOrNull(bytes: Uint8Array): Json {
  return bytes.length === 0 ? null : toBase64(bytes)
}

function ofNative(trace: ExecutionTrace): Comparable {
  return {
    exitCode: trace.msgRct.exitCode,
    return: bytesOrNull(trace.msgRct.return),
    method: trace.msg.method.toString(),
    params: bytesOrNull(trace.msg.params),
    value: trace.msg.value.toString(),
    ipldOps: trace.ipldOps.map((one) => `${one.op} ${one.cid.toString()} ${one.size}`),
    charges: trace.gasCharges.map((one) => charge(one.name, chargeTotal(one))),
    subcalls: trace.subcalls.map(ofNative),
  }
}

for (const { name, compared, roots, isWhole } of CHAINS) {
  const missing = missingShared(`data/golden/${name}`)
  if (missing !== undefined) console.warn(`skipped: ${missing}`)

  describe.skipIf(missing !== undefined)(`native actors on ${name}`, () => {
    it('does what the recorded Wasm actors did', { timeout: 120_000 }, () => {
      const chain = openRecordedChain(name)
      const manifest = manifestFor(chain.network, 18)
      const loadCode = createNativeActors(manifest!.actors, { policy: DEVNET_POLICY })
      // Wasm runs what is not native, so that the messages behind have the state they had.
      const fallback = wasmLoader(manifest!.manifestCid.toString())
      let same = 0
      let sameRoots = 0
      let tainted = 0
      for (const tipset of chain.tipsets) {
        const { outcomes, root } = replayTipset(chain, tipset, {
          loadCode,
          ...(fallback === undefined ? {} : { fallback }),
        })
        for (const { recorded, result, error, isTainted } of outcomes) {
          if (result === undefined) {
            // Not native, or (before the upgrade) of another actors version.
            expect(error).toBeInstanceOf(VmError)
            expect(['NATIVE_UNSUPPORTED', 'UNKNOWN_CODE']).toContain((error as VmError).code)
            continue
          }
          if (isTainted) {
            tainted++
            continue
          }
          const where = `${name} epoch ${tipset.header.height} message ${recorded.cid}`
          expect(result.receipt.exitCode, where).toBe(Number(recorded.receipt.ExitCode))
          expect(ofNative(result.trace!), where).toEqual(ofRecorded(recorded.trace))
          const ratio = Number(result.receipt.gasUsed) / Number(recorded.receipt.GasUsed)
          expect(Math.abs(ratio - 1), `${where}: gas ${ratio}`).toBeLessThan(GAS_TOLERANCE)
          same++
        }
        // Implicit messages pay no gas, so the whole state must be equal, balances included.
        if (outcomes.every((one) => one.recorded.isImplicit && one.result !== undefined)) {
          expect(root.toString()).toBe(tipset.root)
          sameRoots++
        }
      }
      console.info(`${name}: ${same} messages, ${sameRoots} state roots, ${tainted} not compared`)
      expect(same).toBeGreaterThanOrEqual(compared)
      if (isWhole && fallback !== undefined) expect(tainted).toBe(0)
      expect(sameRoots).toBeGreaterThanOrEqual(roots)
    })
  })
}
