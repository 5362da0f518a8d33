/**
 * Prints what a node sets of V8's flags, a line for each: V8, the process's memory and its processor's time are none, and nobody waits for
 * a second to be over. As a program, for a process of its own: a test runs in a thread.
 */
import { registerHooks } from 'node:module'

/** What stands in for Node's modules, by who imports them. */
const INSTEAD: Readonly<Record<string, string>> = {
  'sparingHeap.ts node:v8': 'export const setFlagsFromString = (flag) => console.log(flag)',
  'sparingHeap.ts node:fs': "export const readFileSync = () => 'RssAnon:   200000 kB'",
}

registerHooks({
  resolve: (name, context, next) => {
    const asked = `${context.parentURL?.split('/').at(-1)} ${name}`
    return asked in INSTEAD ? { url: `instead:${asked}`, shortCircuit: true } : next(name, context)
  },
  load: (url, context, next) => {
    const source = INSTEAD[decodeURI(url.replace('instead:', ''))]
    return source === undefined ? next(url, context) : { format: 'module', shortCircuit: true, source }
  },
})

const { holdLittle, spareWhileMuch } = await import('../../../platform/server/sparingHeap.ts')

const looks: (() => void)[] = []
Object.assign(globalThis, { setInterval: (look: () => void) => ({ unref: () => looks.push(look) }) })
let at = 0
let user = 0
let utilization = 0
Object.assign(performance, { now: () => at, eventLoopUtilization: () => ({ idle: 0, active: 0, utilization }) })
Object.assign(process, { cpuUsage: () => ({ user, system: 0 }) })
/** A second in which so much of a processor was used, and the event loop had something to do for so much of it. */
function second(share: number, loop = share): void {
  at += 1000
  user += share * 1e6
  utilization = loop
  for (const look of looks) look()
}

spareWhileMuch()
console.log('idle')
second(0.1)
console.log('busy')
second(0.9)
second(0.1)
console.log('busy, and others get the processors')
second(0.1, 0.9)
console.log('busy, in a mode that holds little')
holdLittle()
second(0.9)
process.exit()
