/**
 * Verification of storage proofs, by both back ends of the curve, against what it must reach. The keys are those of the
 * vectors; a verifier cannot tell them from the ceremony's.
 *
 *     node test/bench/proofs.bench.ts [rounds] [--tab]
 *
 * Processor time of one thread. `--tab`: the same in a tab of Chromium too, against three times what Node took; elapsed time
 * in both then, as a tab has no other clock.
 */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { runInTab } from '../chromium/runInTab.ts'
import { type ProofFigure, proofFigures } from './proofFigures.ts'

/** A tab may take so many times what Node takes. */
const TAB_FACTOR = 3

const { values, positionals } = parseArgs({ options: { tab: { type: 'boolean' } }, allowPositionals: true })
const rounds = Number(positionals[0] ?? 60)

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function report({ what, ms, goal }: ProofFigure): void {
  const aim = goal === undefined ? '' : `  (goal ${Number(goal.toFixed(1))} ms${ms <= goal ? '' : ', MISSED'})`
  console.log(`${what.padEnd(52)} ${ms.toFixed(1).padStart(9)} ms${aim}`)
}

const inNode = new Map<string, number>()
let curve = ''
for await (const figure of proofFigures(rounds, values.tab === true ? () => performance.now() : cpuMs)) {
  if (figure.curve !== curve) console.log(`# ${figure.curve}`)
  curve = figure.curve
  inNode.set(`${curve} ${figure.what}`, figure.ms)
  report(figure)
}
if (values.tab === true) {
  const source = `
import { proofFigures } from './test/bench/proofFigures.ts'
for await (const figure of proofFigures(${rounds}, () => performance.now())) postMessage(figure)
postMessage('done')
`
  for (const figure of (await runInTab(source)) as ProofFigure[]) {
    if (figure.curve !== curve) console.log(`# ${figure.curve}, in a tab`)
    curve = figure.curve
    report({ ...figure, goal: TAB_FACTOR * (inNode.get(`${curve} ${figure.what}`) ?? 0) })
  }
}
