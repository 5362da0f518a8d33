/**
 * Executes a recorded chain over and over: StateCompute of every tipset, traces and JSON included, in processor time and
 * on the clock; then the message vectors. One thread.
 *
 *     node test/bench/execution.bench.ts [chain] [passes]
 *
 * Lotus on a 2-core machine answers StateCompute for the 175 tipsets of nv28 in 2.8 s; ref-fvm's own runner takes 25 s for
 * the 188 vectors of network version 18, loading and compiling included. `PETREL_REF_FVM=<program>` names a program that
 * runs the vectors of the folder in its first argument and is timed for comparison.
 */
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { invocResult } from '../../src/execution/invocResult.ts'
import { networkVersionAt } from '../../src/networks/network.ts'
import { invocResult as invocResultForm } from '../../src/rpc/types/execution.ts'
import { vectorFiles } from '../conformance/fvm/main.ts'
import { VectorRunner } from '../conformance/fvm/runVector.ts'
import { wasmActors } from '../fvm/support/actorCode.ts'
import { executeGolden, openGoldenChain } from '../fvm/support/goldenChain.ts'
import { sharedPath } from '../support/shared.ts'

const [name = 'nv28', passes = '3'] = process.argv.slice(2)
const VECTORS = 'data/vectors/fvm'

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(52)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${unit}`)
}

function seconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6
}

// As the machine's threads have it.
setFlagsFromString('--external-memory-accounted-in-global-limit')
await initCrypto()
const golden = openGoldenChain(name)
const context = { addressPrefix: golden.network.addressPrefix }

for (let pass = 1; pass <= Number(passes); pass++) {
  const label = `${name}, ${pass === 1 ? 'cold' : `warm ${pass - 1}`}`
  const times: number[] = []
  let messages = 0
  let bytes = 0
  const cpu = process.cpuUsage()
  for (const tipset of golden.tipsets) {
    const start = performance.now()
    const loadCode = wasmActors(golden.bundles, networkVersionAt(golden.network, tipset.height))
    const { applied } = executeGolden(golden, tipset, loadCode)
    for (const one of applied) bytes += stringifyJson(invocResultForm.toJson(invocResult(one), context)).length
    messages += applied.length
    times.push(performance.now() - start)
  }
  const used = seconds(process.cpuUsage(cpu))
  const clock = times.reduce((sum, one) => sum + one, 0)
  times.sort((a, b) => a - b)
  report(`${label}: ${golden.tipsets.length} tipsets, ${messages} messages`, clock / 1000, 's')
  report(`${label}: processor`, used, 's')
  report(`${label}: median tipset`, times[Math.floor(times.length / 2)] as number, 'ms')
  report(`${label}: messages`, messages / used, '/s of processor time')
  report(`${label}: JSON`, bytes / 1e6, 'MB')
}
report('memory', process.memoryUsage().rss / 1e6, 'MB')

const paths = vectorFiles(sharedPath(VECTORS))
const runner = new VectorRunner()
const start = performance.now()
const failed = paths.flatMap((path) => runner.run(path)).filter(({ outcome }) => outcome.at === 'failed').length
const ours = performance.now() - start
report(`${paths.length} message vectors, ${failed} failed`, ours / 1000, 's')

const reference = process.env.PETREL_REF_FVM
if (reference !== undefined) {
  const begun = performance.now()
  spawnSync(reference, [sharedPath(VECTORS)], { stdio: 'ignore' })
  report('ref-fvm takes', (performance.now() - begun) / ours, 'times as long')
}
