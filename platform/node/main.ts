#!/usr/bin/env node
import { addNodeCommands } from '../cli/commands/node.ts'
import { processIo } from '../cli/processIo.ts'
import { runCli } from '../cli/program.ts'
import { systemClock, systemTimers } from '../server/clock.ts'
import { startServer } from '../server/httpServer.ts'
import { createLogger } from '../server/logger.ts'
import { systemRandom } from '../server/random.ts'
/** The `petrel` program in Node. */
import { runDaemon } from '../server/runDaemon.ts'
import { runDevnet } from '../server/runDevnet.ts'
import { petrelVersion } from '../server/version.ts'

const interrupt = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt.abort())

const version = petrelVersion()
const log = createLogger({ level: 'info', format: process.env.PETREL_LOG_FORMAT === 'json' ? 'json' : 'text' })
const runtime = {
  ports: { clock: systemClock, timers: systemTimers, random: systemRandom, log },
  startServer,
  version,
}

process.exitCode = await runCli(process.argv.slice(2), {
  io: processIo(interrupt.signal),
  version,
  addNodeCommands: (program, context) =>
    addNodeCommands(program, context, {
      daemon: (options) => runDaemon(options, context.io, runtime),
      devnet: (options) => runDevnet(options, context.io, runtime),
    }),
})

// At once, when all output has left: while a process takes itself apart, WebRTC's native threads still run, and use what is
// gone (and would keep Deno running for ever).
await new Promise<void>((done) => process.stdout.write('', () => process.stderr.write('', () => done())))
process.exit()
