/**
 * Runs the suite in each runtime and ends with `N passed, N failed, N skipped`.
 *
 *     npm test -- runtimes [node|deno|chromium|chromium:tab|chromium:follow]
 */

import { findChromium } from '../support/chromium.ts'
import { openChromium, tabHost } from './chromiumHost.ts'
import { TAB_STEPS } from './chromiumSteps.ts'
import { FOLLOW_STEPS } from './followSteps.ts'
import { LIGHT_STEPS } from './lightSteps.ts'
import { type NodeHost, processHost } from './nodeHost.ts'
import { RUNTIMES } from './nodeProcess.ts'
import { closeWorld, firstTipset, openWorld, STEPS } from './suite.ts'
import type { World } from './world.ts'

/** From the command to the first tipset, ms. A loaded machine is given more time; the figure is printed. */
const FIRST_TIPSET_MS = 3_000
const SLACK = 8

const counts = { passed: 0, failed: 0, skipped: 0 }

type Check = () => Promise<string | undefined>

/** @param again - the same from its beginning: tried once when the first failed, and told as `UNSTEADY` when it passes */
async function check(name: string, run: Check, again?: Check): Promise<boolean> {
  const started = performance.now()
  try {
    const note = await run()
    counts.passed++
    console.log(`ok   ${name} (${Math.round(performance.now() - started)} ms)${note === undefined ? '' : `: ${note}`}`)
    return true
  } catch (error) {
    const told = `${name}\n${(error as Error).stack ?? String(error)}`
    if (again !== undefined) {
      const passed = await check(name, again)
      console.log(`${passed ? 'UNSTEADY' : 'the first time:'} ${told}`)
      return passed
    }
    counts.failed++
    console.log(`FAIL ${told}`)
    return false
  }
}

async function runIn(runtime: string, hosts: { manual(): NodeHost; byClock(): NodeHost }): Promise<void> {
  await check(`${runtime}: the first tipset comes soon`, async () => {
    const { ms, startMs } = await firstTipset(hosts.byClock())
    if (ms > FIRST_TIPSET_MS * SLACK) throw new Error(`first tipset after ${Math.round(ms)} ms`)
    return `${Math.round(ms)} ms after the command, serving after ${Math.round(startMs)} ms (goal ${FIRST_TIPSET_MS} ms)`
  })
  let world: World | undefined
  const opened = await check(`${runtime}: a local chain starts`, async () => {
    world = await openWorld(hosts.manual())
    return undefined
  })
  if (!opened || world === undefined) {
    counts.skipped += STEPS.length
    return
  }
  const open = world
  let last = true
  for (const { name, only, run } of STEPS) {
    if (only === 'http' && open.node.url === '') continue
    last = await check(`${runtime}: ${name}`, async () => {
      await run(open)
      return undefined
    })
  }
  if (!last) console.log(open.node.output())
  await closeWorld(open)
}

/** @param part - `tab`, `follow` or `light`: those steps alone */
async function runInChromium(part: string | undefined): Promise<void> {
  if (findChromium() === undefined) {
    console.log('skipped: no Chromium on this machine')
    counts.skipped++
    return
  }
  const chromium = await openChromium()
  try {
    if (part === undefined) {
      await runIn('chromium', {
        manual: () => tabHost(chromium, { blockTimeMs: 0 }),
        byClock: () => tabHost(chromium, {}),
      })
    }
    const steps = { tab: TAB_STEPS, follow: FOLLOW_STEPS, light: LIGHT_STEPS }
    for (const [name, list] of Object.entries(steps)) {
      if (part !== undefined && part !== name) continue
      for (const step of list) {
        const run = (): Promise<undefined> => step.run(chromium).then(() => undefined)
        // Each has a world of its own, with tabs that a busy machine lets wait for seconds.
        await check(`chromium: ${step.name}`, run, run)
      }
    }
  } finally {
    await chromium.close()
  }
}

const wanted = process.argv.slice(2)
for (const runtime of Object.keys(RUNTIMES)) {
  if (wanted.length > 0 && !wanted.includes(runtime)) continue
  await runIn(runtime, {
    manual: () => processHost(runtime, ['devnet', '--api', '0', '--manual']),
    byClock: () => processHost(runtime, ['devnet', '--api', '0']),
  })
}
const chromiumPart = wanted.find((one) => one.startsWith('chromium'))
if (wanted.length === 0 || chromiumPart !== undefined) await runInChromium(chromiumPart?.split(':')[1])
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 ? 0 : 1
