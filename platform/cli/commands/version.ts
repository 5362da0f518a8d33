import type { Command } from 'commander'
import { line } from '../../server/programIo.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'

/** API versions are one number: major, minor, patch in a byte each. */
function apiVersion(packed: number): string {
  return `${packed >> 16}.${(packed >> 8) & 0xff}.${packed & 0xff}`
}

/** `version`. @see lotus cli/version.go */
export function addVersionCommand(program: Command, { io, node, result }: CliContext, own: string): void {
  program
    .command('version')
    .description('Print version')
    .action(async () => {
      let daemon: string | null = null
      try {
        const version = await (await node()).call('Version')
        daemon = `${version.Version}+api${apiVersion(version.APIVersion)}`
        line(io, `Daemon:  ${daemon}`)
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        // Without a node there is still the version of this program.
      }
      result({ Daemon: daemon, Local: own })
      line(io, `Local: petrel version ${own}`)
    })
}
