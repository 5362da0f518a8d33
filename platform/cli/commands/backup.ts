/** `backup` and `restore`: a home in one file, and out of it. */
import type { Command } from 'commander'
import { Sealer } from '../../../src/wallet/sealing.ts'
import { Home } from '../../server/home.ts'
import type { BackupSummary } from '../../server/homeBackup.ts'
import { line } from '../../server/programIo.ts'
import { systemRandom } from '../../server/random.ts'
import type { CliContext } from '../context.ts'
import { repoPath } from '../rpcClient.ts'
import { passphrase } from './node.ts'

function tell({ io, result }: CliContext, path: string, summary: BackupSummary): void {
  const { time, keys, isSealed, entries, files } = summary
  result({ File: path, Time: time, Keys: keys, Sealed: isSealed, Entries: entries, Files: [...files] })
  line(
    io,
    `${keys} keys${isSealed ? ', encrypted' : ' IN THE PLAIN'}, ${entries} entries of the store, ${files.join(', ')}`,
  )
}

/** Adds the commands. */
export function addBackupCommands(program: Command, context: CliContext): void {
  const { io } = context
  program
    .command('backup')
    .description('Write keys, tokens, messages and options of a home to a file; works while a node runs on it')
    .argument('<file>', 'must not exist')
    .option('--passphrase-file <file>', 'seals keys that are not encrypted (or $PETREL_PASSPHRASE)')
    .option('--insecure', 'although keys can be read in it')
    .action(async (path: string, options: { passphraseFile?: string; insecure?: boolean }) => {
      const { backupHome } = await import('../../server/homeBackup.ts')
      const text = await passphrase(context, options.passphraseFile)
      const summary = await backupHome({
        home: new Home(repoPath(io, context.repo())),
        path,
        sealer: text === undefined ? undefined : new Sealer(text, systemRandom),
        isInsecure: options.insecure === true,
        nowMs: io.now(),
      })
      tell(context, path, summary)
    })
  program
    .command('restore')
    .description('Make a home of a file that `backup` wrote; never start it while the node it is of still runs')
    .argument('<file>')
    .action(async (path: string) => {
      const repo = repoPath(io, context.repo())
      const { restoreHome } = await import('../../server/homeBackup.ts')
      const summary = await restoreHome(repo, path)
      tell(context, path, summary)
      line(io, `of ${summary.time}, in ${repo}; the chain is fetched again: start it with the options of before`)
    })
}
