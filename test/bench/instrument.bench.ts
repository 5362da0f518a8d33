/**
 * Instrumentation of a bundle's actors in MB/s, next to what the engine itself takes for them.
 *
 *     node test/bench/instrument.bench.ts [manifest CID]
 *
 * On a 2-core machine (Node 24): 25 MB/s once warm; fvm-wasm-instrument 0.4.0 takes 2 MB/s there.
 */
import process from 'node:process'
import { openArchive } from '../../src/archive/openArchive.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { instrument } from '../../src/fvm/wasm/instrument.ts'
import { FVM4_RULES } from '../../src/fvm/wasm/rules.ts'
import { SYSCALLS } from '../../src/fvm/wasm/syscalls/table.ts'
import { getBlock } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { missingBundle, readBundle } from '../support/actors.ts'

const ROUNDS = 5
const ACTORS_VERSION = 17

function measure(name: string, megabytes: number, run: () => void): void {
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(start)
    const seconds = (user + system) / 1e6
    console.log(`${name}, round ${round + 1}: ${(megabytes / seconds).toFixed(1)} MB/s of processor time`)
  }
}

const manifest = builtinNetwork('mainnet').manifests.find(({ actorsVersion }) => actorsVersion === ACTORS_VERSION)
const name = process.argv[2] ?? String(manifest?.manifestCid)
const missing = missingBundle(name)
if (manifest === undefined || missing !== undefined) {
  console.log(`skipped: ${missing ?? 'no manifest'}`)
} else {
  const archive = openArchive(memorySource(readBundle(name)), { verify: 'never' })
  const modules = [...manifest.actors.values()].map((code) => getBlock(archive, code))
  const megabytes = modules.reduce((sum, wasm) => sum + wasm.length, 0) / 1e6
  console.log(`${modules.length} actors, ${megabytes.toFixed(1)} MB`)

  let instrumented: Uint8Array<ArrayBuffer>[] = []
  measure('instrument', megabytes, () => {
    instrumented = modules.map((wasm) => new Uint8Array(instrument(wasm, FVM4_RULES)))
  })
  let compiled: WebAssembly.Module[] = []
  measure('validate and compile (lazily)', megabytes, () => {
    compiled = instrumented.map((wasm) => new WebAssembly.Module(wasm))
  })

  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {}
  for (const row of SYSCALLS[4]) imports[row.module] = { ...imports[row.module], [row.name]: () => 0 }
  const counter = new WebAssembly.Global({ value: 'i64', mutable: true }, 0n)
  imports.gas = { ...imports.gas, gas_counter: counter }
  const start = process.cpuUsage()
  const instances = 50 * compiled.length
  for (let round = 0; round < 50; round++) for (const module of compiled) new WebAssembly.Instance(module, imports)
  const { user, system } = process.cpuUsage(start)
  console.log(`instantiate: ${((user + system) / instances).toFixed(0)} µs of processor time each`)
}
