/**
 * A machine over a state of its own with one actor that calls itself until the machine refuses: how deep a runtime gets.
 */
import { fromHex } from '../../../src/base/bytes.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { CODEC_RAW } from '../../../src/codec/cid.ts'
import { type Codec, cid, encode, list, text, tuple } from '../../../src/codec/description.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { Executor } from '../../../src/fvm/executor.ts'
import { ExternFailure, type Externs } from '../../../src/fvm/externs.ts'
import { acceptAllProofs } from '../../../src/fvm/proofVerifier.ts'
import type { ExecutionTrace } from '../../../src/fvm/trace.ts'
import type { WasmEngine } from '../../../src/fvm/wasm/wasmEngine.ts'
import { MemoryBlockstore, putBlock } from '../../../src/ipld/blockstore.ts'
import { StateTree } from '../../../src/state/stateTree.ts'
import { idAddress } from '../../../src/types/address.ts'

/** f05000 sends itself method 7 with all its gas, ignores what becomes of it and returns nothing. */
const CALLS_ITSELF = fromHex(
  '0061736d0100000001130260097f7f7f7e7f7e7e7e7e017f60017f017f020d010473656e640473656e640000030201010503010001071302066d656d6f7279020006696e766f6b6500010a1b0119004110410041034207410042004200427f420010001a41000b0b09010041000b03008827000e046e616d65010701000473656e64',
)
const RECURSING_ACTOR = 5000n
const GAS_LIMIT = 1_000_000_000_000n

const manifest: Codec<{ name: string; code: Cid }[]> = list(
  tuple<{ name: string; code: Cid }>('Entry', [
    ['name', 'Name', text],
    ['code', 'Code', cid],
  ]),
)
const systemState: Codec<{ builtinActors: Cid }> = tuple<{ builtinActors: Cid }>('State', [
  ['builtinActors', 'BuiltinActors', cid],
])

const NO_CHAIN: Externs = {
  chainRandomness: noChain,
  beaconRandomness: noChain,
  tipsetCid: noChain,
  verifyConsensusFault: () => undefined,
}

function noChain(): never {
  throw new ExternFailure('there is no chain')
}

/**
 * Calls the actor once at the top.
 * @returns calls that were entered
 * @throws VmError `HOST_STACK_EXHAUSTED`
 */
export function recurse(engine: WasmEngine, wasm: Uint8Array = CALLS_ITSELF): number {
  const store = new MemoryBlockstore()
  const code = blockCid(wasm, CODEC_RAW)
  const entries = ['system', 'init', 'account', 'placeholder'].map((name) => ({
    name,
    code: blockCid(new TextEncoder().encode(name), CODEC_RAW),
  }))
  const builtinActors = putBlock(store, encode(manifest, entries))
  const tree = StateTree.create(store, 5)
  const actor = (codeCid: Cid, head: Cid) => ({ code: codeCid, head, nonce: 0n, balance: 0n, delegatedAddress: null })
  const empty = putBlock(store, Uint8Array.of(0x80))
  const system = putBlock(store, encode(systemState, { builtinActors }))
  tree.setActor(0n, actor((entries[0] as { code: Cid }).code, system))
  tree.setActor(1n, actor((entries[1] as { code: Cid }).code, empty))
  tree.setActor(RECURSING_ACTOR, actor(code, empty))
  const executor = new Executor(
    {
      networkVersion: 28,
      epoch: 1,
      timestamp: 1,
      baseFee: 0n,
      circulatingSupply: 0n,
      chainId: 1n,
      stateRoot: tree.flush(),
      tracing: true,
      actorDebugging: false,
    },
    {
      store,
      externs: NO_CHAIN,
      proofs: acceptAllProofs,
      loadCode: (wanted) => (wanted.equals(code) ? engine.code(code, () => wasm) : undefined),
    },
  )
  const { receipt, trace, error } = executor.applyMessage(
    {
      version: 0,
      to: idAddress(RECURSING_ACTOR),
      from: idAddress(0n),
      nonce: 0n,
      value: 0n,
      gasLimit: GAS_LIMIT,
      gasFeeCap: 0n,
      gasPremium: 0n,
      method: 7n,
      params: new Uint8Array(0),
    },
    'implicit',
    0,
  )
  if (receipt.exitCode !== 0) throw new Error(`exit code ${receipt.exitCode}: ${error}`)
  return entered(trace)
}

/** Calls that ran code: the last one in the trace was refused. */
function entered(trace: ExecutionTrace | undefined): number {
  let depth = 0
  for (let call = trace; call !== undefined && call.invokedActor !== null; call = call.subcalls[0]) depth++
  return depth
}
