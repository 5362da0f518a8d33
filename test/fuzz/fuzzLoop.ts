/**
 * Inputs made of inputs, kept where they lead a target to an answer that no input had led to before (what it throws, its text without
 * numbers, how long the input is, roughly).
 */
import { toHex } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { mutate, randomOf, stretched } from './mutate.ts'

/** What must not be, and the input that led to it, in hexadecimal. */
export interface Find {
  readonly input: string
  readonly what: string
}

/** What a target did with inputs. */
export interface FuzzReport {
  readonly inputs: number
  /** Those of them that were made of others: all but the seeds and the corpus. */
  readonly mutated: number
  /** Inputs that led to something new. */
  readonly kept: readonly Uint8Array[]
  readonly finds: readonly Find[]
  readonly slowestMs: number
}

/** When to stop, from after the seeds and the corpus on. */
export interface FuzzLimit {
  readonly ms?: number
  readonly inputs?: number
}

/** Of the thread's own time: a busy machine makes no hang. */
const HANG_MS = 5000
/** Longest input, bytes. */
export const MAX_INPUT: number = 64 * 1024
/** One in so many has this length instead, bytes. */
const STRETCHED_IN = 1000
const STRETCHED = 256 * 1024
const MAX_KEPT = 2000
const MAX_FINDS = 5
/** Memory that the thread may have above what it had before a target, bytes: its heap, and the buffers beside it. */
const MAX_GROWTH = 512 * 1024 * 1024
const INPUTS_PER_LOOK = 500

const TAKEN = 'taken '

/** What came of an input, as a name: equal names for inputs that went the same way, as far as one can see. */
async function outcome(target: FuzzTarget, input: Uint8Array): Promise<string> {
  try {
    await target.run(input)
    return `${TAKEN}${target.way?.() ?? Math.min(12, 32 - Math.clz32(input.length))}`
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return `${String(error.code)} ${error.message.replace(/[a-z2-7]{20,}|[0-9a-f]{3,}|\d+|"[^"]*"/g, '#').slice(0, 120)}`
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Of this thread alone, unlike what the process has of the machine. */
function memoryBytes(): number {
  const { heapTotal, external } = process.memoryUsage()
  return heapTotal + external
}

/**
 * Runs a target. Finds: anything thrown that is no PetrelError, an input that takes too long, and memory above the bound.
 * @param onInput - hears each input before it is taken
 */
export async function fuzz(
  target: FuzzTarget,
  corpus: readonly Uint8Array[],
  seed: number,
  limit: FuzzLimit,
  onInput: (input: Uint8Array) => void = () => undefined,
): Promise<FuzzReport> {
  const random = randomOf(seed)
  const seen = new Set<string>()
  const kept: Uint8Array[] = []
  /** Those of them that were not refused: they were read to their end, so most is behind a small change of them. */
  const taken: Uint8Array[] = []
  const finds: Find[] = []
  let memoryBefore = memoryBytes()
  let isFull = false
  let slowestMs = 0
  let inputs = 0
  const look = (input: Uint8Array): void => {
    const bytes = memoryBytes()
    // What was rubbish when the run began is collected some time later, and would be room for this one.
    memoryBefore = Math.min(memoryBefore, bytes)
    if (isFull || bytes - memoryBefore <= MAX_GROWTH) return
    isFull = true
    finds.push({ input: toHex(input), what: 'memory above the bound' })
  }
  const take = async (input: Uint8Array): Promise<void> => {
    inputs++
    onInput(input)
    const started = cpuMs()
    try {
      const name = await outcome(target, input)
      if (!seen.has(name) && kept.length < MAX_KEPT && input.length <= MAX_INPUT) {
        seen.add(name)
        kept.push(input)
        if (name.startsWith(TAKEN)) taken.push(input)
      }
    } catch (error) {
      finds.push({ input: toHex(input), what: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
    const took = cpuMs() - started
    slowestMs = Math.max(slowestMs, took)
    if (took > HANG_MS) finds.push({ input: toHex(input), what: `took ${took.toFixed(0)} ms` })
    if (inputs % INPUTS_PER_LOOK === 0) look(input)
  }
  for (const input of [...(await target.seeds()), ...corpus]) await take(input)
  if (kept.length === 0) kept.push(new Uint8Array(1))
  const given = inputs
  const began = performance.now()
  let last: Uint8Array = new Uint8Array(0)
  const isOver = (): boolean =>
    isFull ||
    finds.length >= MAX_FINDS ||
    inputs - given >= (limit.inputs ?? Number.POSITIVE_INFINITY) ||
    performance.now() - began >= (limit.ms ?? Number.POSITIVE_INFINITY)
  while (!isOver()) {
    const pick = (): Uint8Array => {
      const from = taken.length > 0 && random(2) === 0 ? taken : kept
      return from[random(from.length)] as Uint8Array
    }
    const isStretched = target.isPlayed !== true && random(STRETCHED_IN) === 0
    const input = isStretched ? stretched(pick(), STRETCHED, random) : (target.mutate ?? mutate)(pick(), pick(), random)
    if (input.length > MAX_INPUT && !isStretched) continue
    last = input
    await take(input)
  }
  look(last)
  return { inputs, mutated: inputs - given, kept, finds, slowestMs }
}
