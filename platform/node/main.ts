#!/usr/bin/env node
/**
 * The `petrel` program in Node. What runs a node is loaded by the commands that run one: the others ask a node that is up, and
 * load a quarter of the files.
 */
import { addNodeCommands } from '../cli/commands/node.ts'
import { processIo } from '../cli/processIo.ts'
import { runCli } from '../cli/program.ts'
import { watchBuffers } from '../server/bufferWatch.ts'
import { systemClock, systemTimers } from '../server/clock.ts'
import { openLog } from '../server/logger.ts'
import { fitNursery } from '../server/nursery.ts'
import { hearingHangups, type ProgramIo } from '../server/programIo.ts'
import { systemRandom } from '../server/random.ts'
import { spareWhileMuch } from '../server/sparingHeap.ts'
import { petrelVersion } from '../server/version.ts'

const interrupt = new AbortController()
/** How long a node may take to end, ms. What it told to be done is on disk, whenever it ends. */
const STOP_MS = 5000
const EXIT_OF_SIGNAL = { SIGINT: 130, SIGTERM: 143 }
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupt.signal.aborted) process.exit(EXIT_OF_SIGNAL[signal])
    interrupt.abort()
    setTimeout(() => {
      process.stderr.write(`ERROR: not at its end after ${STOP_MS / 1000} s: what still runs is left\n`)
      process.exit(1)
    }, STOP_MS).unref()
  })
}

const version = petrelVersion()
const { logger: log, configure: configureLog } = openLog()
const runtime = {
  ports: { clock: systemClock, timers: systemTimers, random: systemRandom, log },
  configureLog,
  version,
  // Deno does not tell how busy its loop is (`eventLoopUtilization` gives zeros): no thread of reads would ever start.
  sharesPorts: process.versions.deno === undefined,
}

/** The program's side of a command that runs until it is told to end: it keeps its memory small. */
function longRunning(io: ProgramIo): ProgramIo {
  fitNursery()
  spareWhileMuch()
  watchBuffers()
  return hearingHangups(io)
}

const code = await runCli(process.argv.slice(2), {
  io: processIo(interrupt.signal),
  version,
  addNodeCommands: (program, context) =>
    addNodeCommands(program, context, {
      daemon: async (options) => {
        const io = longRunning(context.io)
        return (await import('../server/runDaemon.ts')).runDaemon(options, io, runtime)
      },
      devnet: async (options) => {
        const io = longRunning(context.io)
        return (await import('../server/runDevnet.ts')).runDevnet(options, io, runtime)
      },
      replica: async (options) => {
        const io = longRunning(context.io)
        return (await import('../server/runReplica.ts')).runReplica(options, io, runtime)
      },
      signer: async (options) => (await import('../server/runSigner.ts')).runSigner(options, context.io, runtime),
      sign: async (options) => (await import('../server/signOffline.ts')).signOffline(options, runtime),
    }),
})

// Of output that could not be written it says 1 already.
process.exitCode ??= code
// At once, when all output has left: while a process takes itself apart, WebRTC's native threads still run, and use what is
// gone (and would keep Deno running for ever).
await new Promise<void>((done) => process.stdout.write('', () => process.stderr.write('', () => done())))
process.exit()
