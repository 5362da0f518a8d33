/**
 * `snapshot export|import|info|fetch`. An export asks the running node; without one it reads the home, or the archive
 * that it is told, directly. The others need no node.
 * @see lotus cli/chain.go ChainExportCmd; Forest src/cli/subcommands/snapshot_cmd.rs
 */
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { BUILTIN_NETWORKS } from '../../../src/networks/builtinNetworks.ts'
import { type CliContext, homeOf } from '../context.ts'
import { CliError } from '../errors.ts'
import { type ExportFlags, MIN_STATE_ROOTS, MINIMAL_STATE_ROOTS } from './exportFlags.ts'
import type { FetchFlags, ImportFlags } from './snapshotImport.ts'
import { addSnapshotList, downloadNewest, type ProviderFlags } from './snapshotLists.ts'

// Loaded by the commands that use them: what reads and writes archives is more than all the rest of the command line.
const exporting = () => import('./snapshotExport.ts')
const importing = () => import('./snapshotImport.ts')
const reading = () => import('./snapshotFile.ts')

async function info(context: CliContext, path: string): Promise<void> {
  const { inspect, openWhole, printInfo } = await reading()
  const file = await openWhole(context, path, homeOf(context))
  try {
    printInfo(context, path, await inspect(context, file))
  } finally {
    await file.close()
  }
}

/** `chain export`, with Lotus' defaults: without a number of states only those of genesis, and all messages. */
function addChainExport(program: Command, context: CliContext): void {
  program.commands
    .find((command) => command.name() === 'chain')
    ?.command('export')
    .description('Export chain to a car file')
    .argument('<out>', 'file to write')
    .option('--tipset <reference>', 'tipset to start the export from', '@head')
    .option('--recent-stateroots <n>', 'number of recent state roots to include in the export', '0')
    .option('--skip-old-msgs', 'leave messages older than those states out')
    .action(async (path: string, flags: Pick<ExportFlags, 'tipset' | 'recentStateroots' | 'skipOldMsgs'>) => {
      if (flags.skipOldMsgs === true && flags.recentStateroots === '0')
        throw new CliError('USAGE', 'must pass recent stateroots along with skip-old-msgs')
      const { exportFromNode } = await exporting()
      await exportFromNode(context, resolve(path), { ...flags, format: 'car', snapshotVersion: '1' })
    })
}

/** Adds the commands; after those of `chain`. */
export function addSnapshotCommands(program: Command, context: CliContext): void {
  addChainExport(program, context)
  const snapshot = program.command('snapshot').description('Export, import, inspect and fetch snapshots of the chain')
  snapshot
    .command('export')
    .description('Write a snapshot, from the running node or else from its home')
    .argument('<out>', 'file to write')
    .option('--tipset <reference>', '@head, @<height>, or the CIDs of a tipset with commas', '@head')
    .option('--minimal', `state and messages of the last ${MINIMAL_STATE_ROOTS} epochs, all headers (the default)`)
    .option('--full', 'all state and all messages')
    .option('--recent-stateroots <n>', `state of the last n epochs, at least ${MIN_STATE_ROOTS}`)
    .option('--skip-old-msgs', 'with --recent-stateroots: no older messages either')
    .addOption(new Option('--format <format>', 'form of the file').choices(['car', 'zstd', 'forest']).default('car'))
    .addOption(new Option('--snapshot-version <n>', '2: with a metadata block').choices(['1', '2']).default('1'))
    .option('--from <archive>', 'export from a snapshot file instead')
    .action(async (path: string, flags: ExportFlags) => {
      if (flags.skipOldMsgs === true && flags.recentStateroots === undefined)
        throw new CliError('USAGE', 'must pass recent stateroots along with skip-old-msgs')
      const { exportFromNode, exportOffline, hasNode } = await exporting()
      if (flags.from === undefined && hasNode(context)) await exportFromNode(context, resolve(path), flags)
      else await exportOffline(context, resolve(path), flags)
    })
  snapshot
    .command('import')
    .description('Check a snapshot and make it the chain of the home; it stays where it is and is read in place')
    .argument('<source>', 'file, or URL to fetch into the home')
    .option('--network <name>', 'mainnet, calibnet, butterflynet, or a network.json (default: by its genesis)')
    .option('--sha256 <hex>', 'checksum of what is fetched')
    .option('--size <bytes>', 'size of what is fetched')
    .action(async (source: string, flags: ImportFlags) => (await importing()).importSnapshot(context, source, flags))
  snapshot
    .command('info')
    .description('Tell what a snapshot holds')
    .argument('<file>')
    .action((path: string) => info(context, path))
  snapshot
    .command('fetch')
    .description('Download a snapshot; an interrupted download goes on where it stopped')
    .argument('<source>', 'URL, or a network: the newest snapshot of the known providers')
    .option('--out <file>', 'where to (default: its own name)')
    .option('--provider <url>', "another provider, with lists in the form of Forest's archive")
    .option('--sha256 <hex>', 'expected checksum')
    .option('--size <bytes>', 'expected size')
    .action(async (source: string, flags: FetchFlags & ProviderFlags) => {
      if (BUILTIN_NETWORKS.includes(source)) await downloadNewest(context, source, flags)
      else await (await importing()).download(context, source, flags)
    })
  addSnapshotList(snapshot, context)
}
