/**
 * Runs a message vector: one message on a state, with the exit code, return value, gas and state root that Lotus had.
 * @see ref-fvm branches release/v2, release/v3 testing/conformance/src/driver.rs, vm.rs
 */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { utf8 } from '../../../src/base/bytes.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import { type Cid, parseCid } from '../../../src/codec/cid.ts'
import { decode } from '../../../src/codec/description.ts'
import { parseJson } from '../../../src/codec/jsonText.ts'
import { Executor } from '../../../src/fvm/executor.ts'
import type { Externs } from '../../../src/fvm/externs.ts'
import type { CodeLoader } from '../../../src/fvm/kernel/kernel.ts'
import { acceptAllProofs } from '../../../src/fvm/proofVerifier.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import { openArchive } from '../../../src/ipld/openArchive.ts'
import { PROTOCOL_SECP256K1 } from '../../../src/types/address.ts'
import { message as messageForm } from '../../../src/types/message.ts'
import type { Row } from '../../support/recorded.ts'

/** What became of one variant of a vector. */
export interface VectorResult {
  /** Path of the file and name of the variant. */
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped. */
  readonly reason: string
}

const DEFAULT_BASE_FEE = 100n
const TOTAL_FILECOIN = 2_000_000_000n * 10n ** 18n
const BLOCK_DELAY = 30
/** 65 bytes of signature, its type, and CBOR around them: vectors hold bare messages. */
const SIGNATURE_OVERHEAD = 69
const FALLBACK_RANDOMNESS = utf8('i_am_random_____i_am_random_____')

/** Files that the reference's runners leave out, with their reason. */
const SKIPPED: readonly (readonly [RegExp, string])[] = [
  [/\/DisputeWindowedPoSt\/Ok\//, 'needs a proof that does not verify; the runner accepts all proofs'],
  [/0001-shark-01\/.*\/fil_[1-9][0-9]+_/, 'actors v10 and later at network version 17'],
]

/** Vectors tell which randomness an epoch has; the rest is fixed. */
function vectorExterns(randomness: readonly Row[]): Externs {
  const draw = (kind: string, epoch: number): Uint8Array => {
    const match = randomness.find(({ on }) => {
      const rule = on as [string, number]
      return rule[0] === kind && Number(rule[1]) === epoch
    })
    return match === undefined ? FALLBACK_RANDOMNESS : new Uint8Array(Buffer.from(match.ret as string, 'base64'))
  }
  return {
    chainRandomness: (epoch) => draw('chain', epoch),
    beaconRandomness: (epoch) => draw('beacon', epoch),
    tipsetCid: () => {
      throw new Error('the reference runner has no tipsets')
    },
    verifyConsensusFault: () => undefined,
  }
}

function rootOf(conditions: Row): Cid {
  return parseCid(((conditions.state_tree as Row).root_cid as Row)['/'] as string)
}

/**
 * @param actors - bundles
 * @param codeLoader - for a network version
 * @throws for a vector of an unknown class: there is no runner for it
 */
export function runVector(
  path: string,
  actors: Blockstore,
  codeLoader: (networkVersion: number) => CodeLoader,
): VectorResult[] {
  const vector = parseJson(readFileSync(path, 'utf8')) as Row
  if (vector.class !== 'message') throw new Error(`Cannot run ${path}: unknown class ${String(vector.class)}`)
  const preconditions = vector.preconditions as Row
  const postconditions = vector.postconditions as Row
  const skip = SKIPPED.find(([pattern]) => pattern.test(path))
  const selector = (vector.selector ?? {}) as Row
  const isUnsupported = selector.chaos_actor === 'true' || selector['requires:consensus_fault_extern'] === 'true'
  return (preconditions.variants as Row[]).map((variant) => {
    const name = `${path} ${String(variant.id)}`
    if (skip !== undefined) return { name, outcome: 'skipped', reason: skip[1] }
    if (isUnsupported) return { name, outcome: 'skipped', reason: 'selector asks for what the runner has not' }
    const failure = runVariant(vector, preconditions, postconditions, variant, actors, codeLoader)
    return { name, outcome: failure === '' ? 'passed' : 'failed', reason: failure }
  })
}

function runVariant(
  vector: Row,
  preconditions: Row,
  postconditions: Row,
  variant: Row,
  actors: Blockstore,
  codeLoader: (networkVersion: number) => CodeLoader,
): string {
  const car = gunzipSync(Buffer.from(vector.car as string, 'base64'))
  const archive = openArchive(memorySource(new Uint8Array(car)), { verify: 'never' })
  const store = new LayeredBlockstore([new MemoryBlockstore(), archive, actors])
  const epoch = Number(variant.epoch)
  const networkVersion = Number(variant.nv)
  const executor = new Executor(
    {
      networkVersion,
      epoch,
      timestamp: epoch * BLOCK_DELAY,
      baseFee: preconditions.basefee === undefined ? DEFAULT_BASE_FEE : BigInt(preconditions.basefee as number),
      circulatingSupply:
        preconditions.circ_supply === undefined ? TOTAL_FILECOIN : BigInt(preconditions.circ_supply as bigint),
      chainId: 0n,
      stateRoot: rootOf(preconditions),
      tracing: false,
      actorDebugging: false,
    },
    {
      store,
      externs: vectorExterns((vector.randomness ?? []) as Row[]),
      proofs: acceptAllProofs,
      loadCode: codeLoader(networkVersion),
    },
  )
  const receipts = postconditions.receipts as Row[]
  const applied = vector.apply_messages as Row[]
  for (let i = 0; i < applied.length; i++) {
    const bytes = new Uint8Array(Buffer.from((applied[i] as Row).bytes as string, 'base64'))
    const message = decode(messageForm, bytes)
    const length = bytes.length + (message.from.protocol === PROTOCOL_SECP256K1 ? SIGNATURE_OVERHEAD : 0)
    const { receipt, error } = executor.applyMessage(message, 'explicit', length)
    const expected = receipts[i] as Row
    const ours = `exit ${receipt.exitCode}, return ${Buffer.from(receipt.return).toString('base64')}, gas ${receipt.gasUsed}`
    const theirs = `exit ${String(expected.exit_code)}, return ${String(expected.return)}, gas ${String(expected.gas_used)}`
    if (ours !== theirs) return `message ${i}: ${ours}; expected ${theirs}; ${error}`
  }
  const root = String(executor.flush())
  const expectedRoot = String(rootOf(postconditions))
  return root === expectedRoot ? '' : `state root ${root}, expected ${expectedRoot}`
}
