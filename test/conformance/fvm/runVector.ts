/**
 * Runs message vectors as ref-fvm's own runner does: proofs all valid, no consensus faults, randomness from the vector
 * or a fixed text, circulating supply from the vector.
 * @see ref-fvm testing/conformance/src/driver.rs, vm.rs, externs.rs, rand.rs of release/v2 (nv 16, 17) and release/v3
 */

import { openArchive } from '../../../src/archive/openArchive.ts'
import { equalBytes, toHex, utf8 } from '../../../src/base/bytes.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { decode } from '../../../src/codec/description.ts'
import { Executor } from '../../../src/fvm/executor.ts'
import { ExternFailure, type Externs } from '../../../src/fvm/externs.ts'
import { acceptAllProofs, type ProofVerifier } from '../../../src/fvm/proofVerifier.ts'
import { vmRulesAt } from '../../../src/fvm/rules.ts'
import { ModuleCache } from '../../../src/fvm/wasm/moduleCache.ts'
import { WasmEngine, wasmCodeLoader } from '../../../src/fvm/wasm/wasmEngine.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../../src/networks/builtinNetworks.ts'
import { actorsVersionFor, manifestFor } from '../../../src/networks/network.ts'
import { PROTOCOL_SECP256K1 } from '../../../src/types/address.ts'
import { message as messageCodec } from '../../../src/types/message.ts'
import { missingBundle, readBundle } from '../../support/actors.ts'
import { readVector, type Variant, type Vector } from './vector.ts'

export type Outcome =
  | { readonly at: 'passed'; readonly messages: number; readonly milliseconds: number }
  | { readonly at: 'skipped'; readonly reason: string }
  | { readonly at: 'failed'; readonly reason: string }

export interface VariantOutcome {
  readonly id: string
  readonly outcome: Outcome
}

/** Signature, type byte and the fields' heads of a signed message in a block. */
const SECP_ENVELOPE_BYTES = 69
const EPOCH_SECONDS = 30
const FALLBACK_RANDOMNESS = utf8('i_am_random_____i_am_random_____')

/** Runs vectors; keeps bundles and compiled actors from one to the next. */
export class VectorRunner {
  readonly #modules = new ModuleCache()
  readonly #engines = new Map<2 | 3 | 4, WasmEngine>()
  readonly #bundles = new Map<string, Blockstore>()
  readonly #proofs: ProofVerifier

  /** @param proofs - default: all valid, as in the reference's runner */
  constructor(proofs: ProofVerifier = acceptAllProofs) {
    this.#proofs = proofs
  }

  /** One outcome per variant. Throws for a file that it can't read. */
  run(path: string): VariantOutcome[] {
    const vector = readVector(path)
    return vector.variants.map((variant) => ({ id: variant.id, outcome: this.#variant(path, vector, variant) }))
  }

  #variant(path: string, vector: Vector, variant: Variant): Outcome {
    if (vector.unsupported !== undefined) return { at: 'skipped', reason: vector.unsupported }
    const { major } = vmRulesAt(variant.networkVersion)
    // The reference's runner skips these, too, in release/v3.
    if (this.#proofs === acceptAllProofs && major > 2 && path.includes('/DisputeWindowedPoSt/Ok/')) {
      return { at: 'skipped', reason: 'expects an invalid proof, and all proofs are valid here' }
    }
    const manifest = manifestFor(builtinNetwork('mainnet'), actorsVersionFor(variant.networkVersion))?.manifestCid
    if (manifest === undefined) return { at: 'failed', reason: `no actors for version ${variant.networkVersion}` }
    const missing = missingBundle(String(manifest))
    if (missing !== undefined) return { at: 'skipped', reason: missing }
    try {
      return this.#execute(vector, variant, this.#bundle(manifest), this.#engine(major))
    } catch (error) {
      return { at: 'failed', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }

  #execute(vector: Vector, variant: Variant, bundle: Blockstore, engine: WasmEngine): Outcome {
    const context = {
      networkVersion: variant.networkVersion,
      epoch: variant.epoch,
      timestamp: engine.major === 2 ? 0 : variant.epoch * EPOCH_SECONDS,
      baseFee: vector.baseFee,
      circulatingSupply: vector.circulatingSupply,
      chainId: 0n,
      stateRoot: vector.stateRoot,
      tracing: false,
      actorDebugging: false,
    }
    const executor = new Executor(context, {
      store: new LayeredBlockstore([new MemoryBlockstore(), vector.store, bundle]),
      externs: replay(vector),
      proofs: this.#proofs,
      loadCode: wasmCodeLoader(engine, (code) => bundle.get(code)),
    })
    const start = performance.now()
    for (const [index, bytes] of vector.messages.entries()) {
      const message = decode(messageCodec, bytes)
      const length = bytes.length + (message.from.protocol === PROTOCOL_SECP256K1 ? SECP_ENVELOPE_BYTES : 0)
      const { receipt, error } = executor.applyMessage(message, 'explicit', length)
      const expected = vector.receipts[index]
      if (expected === undefined) return { at: 'failed', reason: `no receipt for message ${index}` }
      const differ = (what: string, ours: unknown, theirs: unknown): Outcome => ({
        at: 'failed',
        reason: `message ${index}: ${what} ${String(ours)}, expected ${String(theirs)}; ${error}`,
      })
      if (receipt.exitCode !== expected.exitCode) return differ('exit code', receipt.exitCode, expected.exitCode)
      if (!equalBytes(receipt.return, expected.return)) {
        return differ('return', toHex(receipt.return), toHex(expected.return))
      }
      if (receipt.gasUsed !== expected.gasUsed) return differ('gas used', receipt.gasUsed, expected.gasUsed)
    }
    const root = executor.flush()
    const milliseconds = performance.now() - start
    if (!root.equals(vector.expectedRoot)) {
      return { at: 'failed', reason: `state root ${root}, expected ${vector.expectedRoot}` }
    }
    return { at: 'passed', messages: vector.messages.length, milliseconds }
  }

  #engine(major: 2 | 3 | 4): WasmEngine {
    const known = this.#engines.get(major) ?? new WasmEngine(major, this.#modules)
    this.#engines.set(major, known)
    return known
  }

  #bundle(manifest: Cid): Blockstore {
    const key = String(manifest)
    const known = this.#bundles.get(key) ?? openArchive(memorySource(readBundle(key)), { verify: 'never' })
    this.#bundles.set(key, known)
    return known
  }
}

function replay(vector: Vector): Externs {
  const recorded = (kind: 'chain' | 'beacon', epoch: number): Uint8Array =>
    vector.randomness.find((one) => one.kind === kind && one.epoch === epoch)?.value ?? FALLBACK_RANDOMNESS
  return {
    chainRandomness: (epoch) => recorded('chain', epoch),
    beaconRandomness: (epoch) => recorded('beacon', epoch),
    tipsetCid: (epoch) => {
      throw new ExternFailure(`no tipset at ${epoch} in a vector`)
    },
    verifyConsensusFault: () => undefined,
  }
}
