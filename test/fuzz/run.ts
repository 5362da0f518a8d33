/**
 * `npm run fuzz -- <target>|all [--minutes n] [--seed s] [--keep]`: inputs made of inputs, kept where they lead a target to an answer
 * that no input had led to before (what it throws, its text without numbers, how long the input is, roughly).
 *
 * Fails for anything thrown that is no PetrelError, a rejection that nobody awaits, an input that takes more than 5 s, and memory
 * above the bound. What was found is printed as hexadecimal and belongs into `finds.ts`, which test/fuzz/fuzz.test.ts runs.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programArgs } from '../../scripts/programArgs.ts'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { mutate, randomOf } from './mutate.ts'
import { TARGETS } from './targets.ts'

/** What a target did with inputs. */
export interface FuzzReport {
  readonly inputs: number
  /** Inputs that led to something new. */
  readonly kept: readonly Uint8Array[]
  readonly finds: readonly { readonly input: string; readonly what: string }[]
  readonly slowestMs: number
}

/** When to stop. */
export interface FuzzLimit {
  readonly ms?: number
  readonly inputs?: number
}

/** Of the processor's time: a busy machine makes no hang. */
const HANG_MS = 5000
const MAX_INPUT = 64 * 1024
const MAX_KEPT = 2000
const MAX_FINDS = 5
/** Memory that a target may take above what it had, bytes. */
const MAX_GROWTH = 512 * 1024 * 1024
const INPUTS_PER_LOOK = 5000
/** What is kept in the repository of each target: inputs, and bytes each. */
const CORPUS_INPUTS = 40
const CORPUS_BYTES = 200
const CORPUS = join(import.meta.dirname, 'corpus')

/** What came of an input, as a name: equal names for inputs that went the same way, as far as one can see. */
async function outcome(target: FuzzTarget, input: Uint8Array): Promise<string> {
  try {
    await target.run(input)
    return `taken ${target.way?.() ?? Math.min(12, 32 - Math.clz32(input.length))}`
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return `${String(error.code)} ${error.message.replace(/[0-9a-f]{3,}|\d+|"[^"]*"/g, '#').slice(0, 120)}`
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Runs a target. */
export async function fuzz(
  target: FuzzTarget,
  corpus: readonly Uint8Array[],
  seed: number,
  limit: FuzzLimit,
): Promise<FuzzReport> {
  const random = randomOf(seed)
  const seen = new Set<string>()
  const kept: Uint8Array[] = []
  const finds: { input: string; what: string }[] = []
  const began = performance.now()
  const heapBefore = process.memoryUsage().rss
  let slowestMs = 0
  let inputs = 0
  const take = async (input: Uint8Array): Promise<void> => {
    inputs++
    const started = cpuMs()
    try {
      const name = await outcome(target, input)
      if (!seen.has(name) && kept.length < MAX_KEPT) {
        seen.add(name)
        kept.push(input)
      }
    } catch (error) {
      finds.push({ input: toHex(input), what: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
    const took = cpuMs() - started
    slowestMs = Math.max(slowestMs, took)
    if (took > HANG_MS) finds.push({ input: toHex(input), what: `took ${took.toFixed(0)} ms` })
    if (inputs % INPUTS_PER_LOOK === 0 && process.memoryUsage().rss - heapBefore > MAX_GROWTH) {
      finds.push({ input: toHex(input), what: 'memory above the bound' })
    }
  }
  for (const input of [...target.seeds(), ...corpus]) await take(input)
  if (kept.length === 0) kept.push(new Uint8Array(1))
  const isOver = (): boolean =>
    finds.length >= MAX_FINDS ||
    inputs >= (limit.inputs ?? Number.POSITIVE_INFINITY) ||
    performance.now() - began >= (limit.ms ?? Number.POSITIVE_INFINITY)
  while (!isOver()) {
    const pick = (): Uint8Array => kept[random(kept.length)] as Uint8Array
    const input = mutate(pick(), pick(), random)
    if (input.length <= MAX_INPUT) await take(input)
  }
  return { inputs, kept, finds, slowestMs }
}

/** The kept inputs of a target. */
export function readCorpus(name: string): Uint8Array[] {
  const path = join(CORPUS, `${name}.txt`)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(fromHex)
}

function keep(name: string, inputs: readonly Uint8Array[]): void {
  mkdirSync(CORPUS, { recursive: true })
  const small = inputs.filter(({ length }) => length > 0 && length <= CORPUS_BYTES).slice(0, CORPUS_INPUTS)
  writeFileSync(join(CORPUS, `${name}.txt`), `${small.map(toHex).join('\n')}\n`)
}

async function main(): Promise<void> {
  const { positionals, values } = programArgs(import.meta.filename, {
    allowPositionals: true,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  const wanted = positionals[0]
  const names = wanted === 'all' ? Object.keys(TARGETS) : [wanted ?? '']
  const seed = values.seed === undefined ? Date.now() % 0x7fffffff : Number(values.seed)
  if (names.some((name) => !Object.hasOwn(TARGETS, name)) || !Number.isFinite(seed)) {
    console.log(
      `npm run fuzz -- <target> [--minutes n] [--seed s] [--keep]\ntargets: all ${Object.keys(TARGETS).join(' ')}`,
    )
    process.exitCode = 2
    return
  }
  let rejections = 0
  process.on('unhandledRejection', (reason) => {
    rejections++
    console.log('a rejection that nobody awaits:', reason)
  })
  await initCrypto()
  console.log(`seed ${seed}`)
  let total = 0
  let finds = 0
  for (const name of names) {
    const target = TARGETS[name] as FuzzTarget
    const ms = (Number(values.minutes) * 60_000) / names.length
    const report = await fuzz(target, readCorpus(name), seed, { ms })
    total += report.inputs
    finds += report.finds.length
    console.log(
      `${name.padEnd(18)} ${String(report.inputs).padStart(9)} inputs, ${report.kept.length} ways, slowest ${report.slowestMs.toFixed(1)} ms, ${report.finds.length} finds`,
    )
    for (const { input, what } of report.finds) console.log(`  ${what}\n  ${input.slice(0, 2000)}`)
    if (values.keep) keep(name, report.kept)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  console.log(`${total} inputs, ${finds} finds, ${rejections} rejections`)
  if (finds + rejections > 0) process.exitCode = 1
}

if (import.meta.main) await main()
