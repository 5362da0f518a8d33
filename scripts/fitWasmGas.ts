/**
 * Fits the costs in src/actors/wasmGasCosts.ts: runs every recorded message that native actors can execute, cuts each
 * call into segments by its system calls, and finds the cost per feature with the least squared error against the
 * recorded `wasm_exec` charges. Prints the costs, the worst segments, and the error per message.
 *
 *   node scripts/fitWasmGas.ts [chain …]
 */
import { createNativeActors } from '../src/actors/nativeActors.ts'
import { DEVNET_POLICY } from '../src/actors/policy.ts'
import { type Feature, WasmGas } from '../src/actors/wasmGas.ts'
import { WASM_GAS_COSTS } from '../src/actors/wasmGasCosts.ts'
import type { GasOps } from '../src/fvm/kernel/kernel.ts'
import { manifestFor } from '../src/networks/network.ts'
import type { Row } from '../test/support/recorded.ts'
import { openRecordedChain, type Replayed, replayTipset } from '../test/support/recordedExecution.ts'

type Segment = Map<Feature, number>

/** Counts features instead of only charging for them. */
class RecordingGas extends WasmGas {
  readonly segments: Segment[] = []
  #current: Segment = new Map()

  override add(feature: Feature, count = 1): void {
    super.add(feature, count)
    this.#current.set(feature, (this.#current.get(feature) ?? 0) + count)
  }

  override charge(kernel: GasOps): void {
    super.charge(kernel)
    this.segments.push(this.#current)
    this.#current = new Map()
  }
}

interface Sample {
  readonly features: Segment
  readonly gas: number
  readonly where: string
}

/** All calls of a trace in the order in which they began. */
function* calls(trace: Row): Generator<Row> {
  yield trace
  for (const sub of (trace.Subcalls ?? []) as Row[]) yield* calls(sub)
}

const ACTORS_VERSION = 18
const SWEEPS = 20_000
const SHOWN = 25

function wasmCharges(call: Row): number[] {
  const out: number[] = []
  for (const charge of (call.GasCharges ?? []) as Row[]) if (charge.Name === 'wasm_exec') out.push(Number(charge.tg))
  // The first is the instance's start.
  return out.slice(1)
}

function collect(name: string): Sample[] {
  const chain = openRecordedChain(name)
  const manifest = manifestFor(chain.network, ACTORS_VERSION)
  if (manifest === undefined) return []
  let made: { kind: string; gas: RecordingGas }[] = []
  const loadCode = createNativeActors(manifest.actors, {
    policy: DEVNET_POLICY,
    createGas: (pages, kind) => {
      const gas = new RecordingGas(pages)
      made.push({ kind, gas })
      return gas
    },
  })
  const samples: Sample[] = []
  for (const tipset of chain.tipsets) {
    made = []
    const after = ({ recorded, result, isTainted }: Replayed): void => {
      const invocations = made
      made = []
      if (result === undefined || isTainted) return
      const recordedCalls = [...calls(recorded.trace)].filter((call) => wasmCharges(call).length > 0)
      if (recordedCalls.length !== invocations.length) return
      for (const [i, call] of recordedCalls.entries()) {
        const { kind, gas } = invocations[i]!
        const charges = wasmCharges(call)
        if (charges.length !== gas.segments.length) continue
        for (const [at, features] of gas.segments.entries()) {
          const where = `${kind} ${(call.Msg as Row).Method} #${at} ${[...features.keys()].join('+')}`
          samples.push({ features, gas: charges[at]!, where })
        }
      }
    }
    replayTipset(chain, tipset, { loadCode, after })
  }
  return samples
}

/**
 * Least squares with costs not below 0: coordinate descent on the normal equations. Segments of one place in one method
 * count as much as those of any other, however often they were recorded.
 */
function fit(samples: readonly Sample[], names: readonly Feature[]): number[] {
  const size = names.length
  const gram = names.map(() => new Float64Array(size))
  const target = new Float64Array(size)
  const index = new Map(names.map((name, i) => [name, i]))
  const counts = new Map<string, number>()
  for (const { where } of samples) counts.set(where, (counts.get(where) ?? 0) + 1)
  for (const { features, gas, where } of samples) {
    const weight = 1 / counts.get(where)!
    const entries = [...features].map(([name, count]) => [index.get(name)!, count] as const)
    for (const [i, x] of entries) {
      target[i]! += weight * x * gas
      for (const [j, y] of entries) gram[i]![j]! += weight * x * y
    }
  }
  const costs = names.map((name) => WASM_GAS_COSTS[name] as number)
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (let i = 0; i < size; i++) {
      const diagonal = gram[i]![i]!
      if (diagonal === 0) continue
      let rest = target[i]!
      for (let j = 0; j < size; j++) if (j !== i) rest -= gram[i]![j]! * costs[j]!
      costs[i] = Math.max(0, rest / diagonal)
    }
  }
  return costs
}

const chains = process.argv.length > 2 ? process.argv.slice(2) : ['nv28', 'nv28-deadlines', 'up-27-28']
const samples = chains.flatMap(collect)
const names = Object.keys(WASM_GAS_COSTS) as Feature[]
const costs = fit(samples, names)
console.log(`${samples.length} segments`)
for (const [i, name] of names.entries()) console.log(`  ${name}: ${Math.round(costs[i]!)},`)

const groups = new Map<string, { count: number; recorded: number; fitted: number }>()
for (const { features, gas, where } of samples) {
  const group = groups.get(where) ?? { count: 0, recorded: 0, fitted: 0 }
  group.count++
  group.recorded += gas
  for (const [name, count] of features) group.fitted += count * costs[names.indexOf(name)]!
  groups.set(where, group)
}
const worst = [...groups].map(([where, { count, recorded, fitted }]) => ({
  where,
  count,
  recorded: Math.round(recorded / count),
  off: Math.round((fitted - recorded) / count),
}))
worst.sort((a, b) => Math.abs(b.off) - Math.abs(a.off))
for (const group of worst.slice(0, SHOWN))
  console.log(`${group.off} of ${group.recorded} x${group.count}: ${group.where}`)
