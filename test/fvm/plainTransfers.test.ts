/**
 * Transfers between existing actors run no code: gas, trace, receipt and costs are exactly those that Lotus recorded.
 */
import { describe, expect, it } from 'vitest'
import { parseCid } from '../../src/codec/cid.ts'
import { invocResult } from '../../src/execution/invocResult.ts'
import { Executor } from '../../src/fvm/executor.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { OverlayBlockstore } from '../../src/ipld/blockstore.ts'
import { networkVersionAt } from '../../src/networks/network.ts'
import { invocResult as invocResultForm } from '../../src/rpc/types/execution.ts'
import { messageCid, message as messageForm } from '../../src/types/message.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { type Row, recordedCalls } from '../support/recorded.ts'
import { missingShared } from '../support/shared.ts'
import { jsonDifferences } from './support/compareJson.ts'
import { externsOf, openGoldenChain } from './support/goldenChain.ts'

/** One per price list and layout. */
const CHAINS = ['nv17', 'nv18', 'nv22', 'nv28']
/** Earlier messages of the tipset may have changed the receiver. */
const IGNORED = new Set(['tt', 'Duration', 'InvokedActor'])
const CONTEXT = { addressPrefix: 't' } as const

/** Bytes that the inclusion charge says the message had on the chain. */
function lengthOf(version: number, row: Row): number {
  const charge = ((row.ExecutionTrace as Row).GasCharges as Row[])[0] as Row
  const storage = Number(charge.sg) - (version >= 18 ? 475_000 : 0)
  return storage / 1300 - 36
}

describe('plain transfers', () => {
  for (const name of CHAINS) {
    const missing = missingShared(`data/golden/${name}`)
    it.skipIf(missing !== undefined)(`${name}: as Lotus executed them`, { timeout: 120_000 }, () => {
      const golden = openGoldenChain(name)
      const byKey = new Map(golden.tipsets.map((tipset) => [tipset.key.join(), tipset]))
      let count = 0
      for (const call of recordedCalls(name, 'chain.jsonl.zst', ['Filecoin.StateCompute'])) {
        if (call.params[2] === null) continue
        const key = (call.params[2] as Row[]).map((one) => parseCid(one['/'] as string)).join()
        const tipset = byKey.get(key)
        if (tipset === undefined) continue
        const rows = ((call.response.result as Row).Trace ?? []) as Row[]
        for (const row of rows) {
          const message = messageForm.fromJson(row.Msg as Row, CONTEXT)
          const trace = row.ExecutionTrace as Row
          if ((row.GasCost as Row).Message === null || message.method !== 0n) continue
          // A receiver that does not exist yet is created, which runs a constructor.
          if ((trace.GasCharges as Row[]).some((charge) => charge.Name === 'OnCreateActor')) continue
          const block = firstBlock(tipset)
          const networkVersion = networkVersionAt(golden.network, tipset.height)
          const executor = new Executor(
            {
              networkVersion,
              epoch: tipset.height,
              timestamp: block.timestamp,
              baseFee: block.parentBaseFee,
              circulatingSupply: 0n,
              chainId: BigInt(golden.network.chainId),
              stateRoot: block.parentStateRoot,
              tracing: true,
              actorDebugging: false,
            },
            {
              store: new OverlayBlockstore(golden.store),
              externs: externsOf(golden, golden.chain.parent(tipset)),
              proofs: acceptAllProofs,
              loadCode: () => undefined,
            },
          )
          const sender = executor.machine.state.lookupId(message.from)
          const actor = sender === undefined ? undefined : executor.machine.state.getActor(sender)
          // Not the sender's first message in this tipset.
          if (actor === undefined || actor.nonce !== message.nonce) continue
          const result = executor.applyMessage(message, 'explicit', lengthOf(networkVersion, row))
          const applied = { cid: parseCid((row.MsgCid as Row)['/'] as string), message, isImplicit: false, result }
          const ours = invocResultForm.toJson(invocResult(applied), CONTEXT)
          expect(jsonDifferences(ours, row, IGNORED), `message ${messageCid(message)}`).toEqual([])
          count++
        }
      }
      expect(count).toBeGreaterThan(10)
    })
  }
})
