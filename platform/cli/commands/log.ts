import type { Command } from 'commander'
import { line } from '../../server/programIo.ts'
import { type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'

const POLL_MS = 500
const MS_PER_SEC = 1000

async function setLevel(context: CliContext, level: string, systems: readonly string[]): Promise<void> {
  const client = await context.node()
  const parts = systems.length > 0 ? systems : await client.call('LogList')
  for (const part of parts) await client.call('LogSetLevel', [part, level])
  context.result({ level, systems: [...parts] })
}

/** Asks until the node answers. */
async function waitApi({ io, node, result }: CliContext, timeout: string): Promise<void> {
  const seconds = wholeNumber(timeout.replace(/s$/, ''), 'timeout')
  const deadline = io.now() + seconds * MS_PER_SEC
  for (;;) {
    try {
      result({ peerId: await (await node()).call('ID') })
      return
    } catch (error) {
      if (io.signal.aborted || io.now() >= deadline) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new CliError('FAILED', `the node did not answer in ${seconds} s: ${reason}`)
      }
    }
    await io.sleep(POLL_MS)
  }
}

/** `log list|set-level|alerts`, `wait-api`. @see lotus cli/log.go, cli/wait.go */
export function addLogCommands(program: Command, context: CliContext): void {
  const { io, node } = context
  const log = program.command('log').description('Manage logging')
  log
    .command('list')
    .description('List parts of the log')
    .action(async () => {
      const parts = await (await node()).call('LogList')
      context.result(parts)
      for (const part of parts) line(io, part)
    })
  log
    .command('set-level')
    .description('Set the level of parts of the log, of all without --system')
    .argument('<level>', 'debug, info, warn, error')
    .option('--system <part...>', 'limit to these parts')
    .action((level: string, options: { system?: string[] }) => setLevel(context, level, options.system ?? []))
  log
    .command('alerts')
    .description('Get alert states')
    .action(async () => {
      const alerts = await (await node()).call('LogAlerts')
      context.result(alerts)
      for (const alert of alerts) line(io, JSON.stringify(alert))
    })
  program
    .command('wait-api')
    .description('Wait for the node to answer')
    .option('--timeout <seconds>', 'how long to try', '30')
    .action((options: { timeout: string }) => waitApi(context, options.timeout))
}
