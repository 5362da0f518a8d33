/** `doctor`: what is wrong with a home, also while a node runs on it. */
import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { errorMessage, PetrelError } from '../../../src/base/errors.ts'
import { checkHome, type HomeReport } from '../../server/checkHome.ts'
import { Home } from '../../server/home.ts'
import { assertSound } from '../../server/lmdbFile.ts'
import { DATA_FILE } from '../../server/lmdbStore.ts'
import { line } from '../../server/programIo.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import { repoPath } from '../rpcClient.ts'

/** Below so much room a node on the disk stops soon, bytes. */
const LITTLE_ROOM = 1024 * 1024 * 1024
const OTHERS = 0o077
const SAID_EVERY = 100_000

/** Who may read and write, and whether there is room. */
function faultsOfFiles(home: Home): string[] {
  const faults: string[] = []
  if (process.platform !== 'win32') {
    const modeOf = (path: string): number => (existsSync(path) ? statSync(path).mode & 0o777 : 0)
    if ((modeOf(home.path) & 0o022) !== 0) faults.push(`others may write to ${home.path}: chmod 700 ${home.path}`)
    for (const path of [home.keystore, home.token]) {
      if ((modeOf(path) & OTHERS) !== 0) faults.push(`others may use ${path}: chmod go= ${path}`)
    }
  }
  const { bavail, bsize } = statfsSync(home.path)
  if (bavail * bsize < LITTLE_ROOM)
    faults.push(`the disk is nearly full: ${bavail * bsize} bytes are free at ${home.path}`)
  return faults
}

/** What stops the check of the store is its first fault. */
async function attempt(check: () => Promise<HomeReport | undefined>): Promise<{
  readonly faults: readonly string[]
  readonly store?: HomeReport
}> {
  try {
    const store = await check()
    return store === undefined ? { faults: [] } : { faults: store.faults, store }
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return { faults: [errorMessage(error)] }
  }
}

/** Adds the command. */
export function addDoctorCommand(program: Command, context: CliContext): void {
  const { io } = context
  program
    .command('doctor')
    .description('What is wrong with the home of a node; works while a node runs on it')
    .option(
      '--deep',
      'read the whole store: every block against its CID, headers down to genesis, the state of the head',
    )
    .action(async ({ deep = false }: { deep?: boolean }) => {
      const home = new Home(repoPath(io, context.repo()))
      if (!existsSync(home.path)) throw new CliError('FAILED', `there is no home at ${home.path}`)
      let said = 0
      const progress = (blocks: number): void => {
        if (blocks < said + SAID_EVERY) return
        said = blocks
        line(io, `${blocks} blocks read`)
      }
      const { faults: found, store } = await attempt(async () => {
        if (deep) return await checkHome(home, progress)
        assertSound(join(home.chain, DATA_FILE))
        return undefined
      })
      if (store !== undefined) {
        line(io, `${store.blocks} blocks, ${store.bytes} bytes, ${store.damagedCount} damaged`)
        const { chain } = store
        if (chain !== undefined) {
          line(
            io,
            `chain from epoch ${chain.head} down to ${chain.lowest}, ${chain.stateBlocks} blocks of the head's state`,
          )
        }
        line(io, `${store.messages} messages of this node`)
      }
      const faults = [...faultsOfFiles(home), ...found]
      context.result({ Faults: faults, Blocks: store?.blocks ?? null, Damaged: store?.damagedCount ?? null })
      for (const fault of faults) line(io, `FAULT: ${fault}`)
      if (faults.length > 0) throw new CliError('FAILED', `${faults.length} faults`)
      line(io, 'no faults')
    })
}
