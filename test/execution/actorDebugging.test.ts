/** Debugging of actors, as in Lotus' debug builds: what they log is what builtin-actors says, and it costs gas. */
import { describe, expect, it } from 'vitest'
import { CarStore } from '../../src/archive/carStore.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import type { ExecutionTrace } from '../../src/fvm/trace.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import { openRecordedChain, replayTipset } from '../support/recordedExecution.ts'
import { missingShared, readSharedText } from '../support/shared.ts'

const NETWORK = 'data/golden/nv28/network.json'
const network = missingShared(NETWORK) === undefined ? parseNetwork(parseJson(readSharedText(NETWORK))) : undefined
const manifest = network === undefined ? undefined : manifestFor(network, 18)
const bundle = manifest?.manifestCid.toString() ?? ''
const missing = missingShared(NETWORK) ?? missingBundle(bundle)

const INIT = 't01'
const EXEC = 2n

function logsOf(trace: ExecutionTrace | undefined): string[] {
  if (trace === undefined) return []
  return [...trace.logs, ...trace.subcalls.flatMap(logsOf)]
}

describe.skipIf(missing !== undefined)('debugging of actors', () => {
  it('logs on demand, and costs gas then alone', () => {
    const chain = openRecordedChain('nv28')
    const loadCode = createCodeLoaders({
      blocks: new CarStore(memorySource(readBundle(bundle)), { verify: 'never' }),
    })(28)
    const tipset = chain.tipsets.find(({ messages }) =>
      messages.some(
        ({ message, receipt }) =>
          message.to.toString('t') === INIT && message.method === EXEC && Number(receipt.ExitCode) === 0,
      ),
    )
    if (tipset === undefined) throw new Error('nobody made an actor')
    const runs = [false, true].map((actorDebugging) => {
      return replayTipset({ ...chain, network: { ...chain.network, actorDebugging } }, tipset, { loadCode }).outcomes
    })
    const [quiet = [], loud = []] = runs
    expect(quiet.length).toBe(tipset.messages.length)
    let made = 0
    for (const [i, { recorded, result }] of quiet.entries()) {
      const { message, receipt, isImplicit } = recorded
      expect(result?.receipt.exitCode).toBe(Number(receipt.ExitCode))
      if (!isImplicit) expect(Number(result?.receipt.gasUsed)).toBe(receipt.GasUsed)
      expect(logsOf(result?.trace)).toEqual([])
      const debugged = loud[i]?.result
      expect(debugged?.receipt.exitCode).toBe(Number(receipt.ExitCode))
      if (message.to.toString('t') !== INIT || message.method !== EXEC) continue
      made++
      // builtin-actors v18 actors/init/src/lib.rs `exec`, runtime/src/runtime/fvm.rs `init_logging`
      const code = manifest?.actors.get('multisig')?.toString()
      const [first, second, third] = logsOf(debugged?.trace)
      expect(first).toBe(`[TRACE]<Init::1> called exec; params.code_cid: Cid(${code})`)
      expect(second).toBe(`[TRACE]<Init::1> caller code CID: Cid(${manifest?.actors.get('account')?.toString()})`)
      expect(third).toMatch(/^\[TRACE\]<Init::1> robust address: Address/)
      expect(debugged?.receipt.gasUsed).toBeGreaterThan(result?.receipt.gasUsed as bigint)
    }
    expect(made).toBeGreaterThan(0)
  })
})
