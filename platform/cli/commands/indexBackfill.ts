/** `index backfill`: fills the database of `--index` from an archive. */
import type { Command } from 'commander'
import { line } from '../../server/programIo.ts'
import { type CliContext, homeOf, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { indexUrl } from '../indexUrl.ts'

interface BackfillFlags {
  readonly from: string
  readonly index: string
  readonly network: string
  readonly indexFrom?: string
  readonly workers?: string
}

/** Adds the command. */
export function addIndexCommands(program: Command, context: CliContext): void {
  program
    .command('index')
    .description('Work on the PostgreSQL that a node writes its chain into (docs/sql.md)')
    .command('backfill')
    .description('Fill it from an archive, up to its head; goes on where it was stopped')
    .requiredOption('--from <archive>', 'a .car, .car.zst or .forest.car.zst, with the states of what is to be written')
    .requiredOption('--index <url>', 'postgres://user@host/database')
    .option('--network <name>', 'mainnet, calibnet, butterflynet, or a network.json', 'mainnet')
    .option('--index-from <epoch>', 'where an empty index begins (default: at the lowest state of the archive)')
    .option('--workers <n>', 'threads that execute (default: by the machine)')
    .action(async (flags: BackfillFlags) => {
      const { io } = context
      const workers = flags.workers === undefined ? undefined : wholeNumber(flags.workers, 'workers')
      if (workers === 0) throw new CliError('USAGE', 'workers: at least 1')
      const [{ backfill }, { spareWhileMuch }] = await Promise.all([
        import('../../server/index/backfill.ts'),
        import('../../server/sparingHeap.ts'),
      ])
      spareWhileMuch()
      const { height, tipsets, completed, seconds } = await backfill({
        ...{ archive: flags.from, network: flags.network, url: indexUrl(flags.index), workers },
        from: flags.indexFrom === undefined ? undefined : wholeNumber(flags.indexFrom, 'index-from'),
        home: homeOf(context),
        io,
      }).catch((error: unknown) => {
        if (!io.signal.aborted) throw error
        throw new CliError('FAILED', 'interrupted')
      })
      context.result({ Height: height, Tipsets: tipsets, Completed: completed, Seconds: Math.round(seconds) })
      const more = completed === 0 ? '' : `, ${completed} of an earlier Petrel completed`
      line(io, `the index is at epoch ${height}: ${tipsets} tipsets written${more} in ${seconds.toFixed(1)} s`)
    })
}
