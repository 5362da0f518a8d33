/**
 * `npm run fuzz -- <target>|all [--minutes n] [--seed s] [--keep]`: inputs made of inputs, kept where they lead a target to an answer
 * that no input had led to before (what it throws, its text without numbers, how long the input is, roughly).
 *
 * Fails for anything thrown that is no PetrelError, a rejection that nobody awaits, an input that takes more than 5 s of the processor
 * or never ends (its thread is ended then), and memory above the bound. What was found is printed as hexadecimal and belongs into
 * `finds.ts`, which test/fuzz/fuzz.test.ts runs.
 */
import { programArgs } from '../../scripts/programArgs.ts'
import { keepCorpus } from './keptInputs.ts'
import { TARGETS } from './targets.ts'
import { runWatched } from './watched.ts'

const MAX_SHOWN = 2000

const { positionals, values } = programArgs(import.meta.filename, {
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
const [wanted = ''] = positionals
const names = wanted === 'all' ? Object.keys(TARGETS) : [wanted]
const seed = values.seed === undefined ? Date.now() % 0x7fffffff : Number(values.seed)
if (names.some((name) => !Object.hasOwn(TARGETS, name)) || !Number.isFinite(seed)) {
  console.log(
    `npm run fuzz -- <target> [--minutes n] [--seed s] [--keep]\ntargets: all ${Object.keys(TARGETS).join(' ')}`,
  )
  process.exit(2)
}
console.log(`seed ${seed}`)
const ms = (Number(values.minutes) * 60_000) / names.length
let total = 0
let count = 0
const module = new URL('./targets.ts', import.meta.url)
await runWatched({ names, module, seed, limit: { ms } }, (name, { inputs, kept, slowestMs, finds }) => {
  total += inputs
  count += finds.length
  console.log(
    `${name.padEnd(18)} ${String(inputs).padStart(9)} inputs, ${kept.length} ways, slowest ${slowestMs.toFixed(1)} ms, ${finds.length} finds`,
  )
  for (const { input, what } of finds) console.log(`  ${what}\n  ${input.slice(0, MAX_SHOWN)}`)
  if (values.keep && kept.length > 0) keepCorpus(name, kept)
})
console.log(`${total} inputs, ${count} finds`)
process.exit(count > 0 ? 1 : 0)
