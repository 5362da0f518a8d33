/** `doctor`: what is wrong with a node, its home and its machine, each with what to do; also while the node runs. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { errorMessage, PetrelError } from '../../../src/base/errors.ts'
import { assertPortFree } from '../../server/assertPortFree.ts'
import type { HomeReport } from '../../server/checkHome.ts'
import { type Check, checkClock, checkDescriptors, checkDisk, checkPermissions } from '../../server/checkHost.ts'
import { Home } from '../../server/home.ts'
import { ELSEWHERE, lockHolder } from '../../server/homeLock.ts'
import { DATA_FILE } from '../../server/lmdbFile.ts'
import { line, type ProgramIo } from '../../server/programIo.ts'
import { applySettings } from '../configFile.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import { paint } from '../paint.ts'
import { findEndpoint, repoPath } from '../rpcClient.ts'

const SAID_EVERY = 100_000
/** The commands that run a node, which the file of options is for. */
const RUNNING: readonly string[] = ['daemon', 'devnet']
/** Until a node answers that is up, ms. */
const ANSWER_MS = 10_000
/** What a health rule asks for when it does not hold, by a word of its text. @see src/node/health.ts */
const HEALTH_REMEDIES: readonly (readonly [RegExp, string, string])[] = [
  [
    /^waits for heads/,
    'sync',
    'name more nodes by --bootstrap, or say by --sync-peers how few are enough (docs/following.md)',
  ],
  [/sync/, 'sync', 'petrel sync status says what it does, the log why it failed'],
  [
    /^head/,
    'head',
    'petrel sync status; see clock and peers; far behind, a new --repo with --snapshot latest (docs/following.md)',
  ],
  [/peer/, 'peers', 'petrel net peers; let --listen ports through the firewall, name more nodes by --bootstrap'],
]

async function checkStoreOf(home: Home, deep: boolean, io: ProgramIo): Promise<{ check: Check; report?: HomeReport }> {
  const name = 'store'
  const remedy = 'petrel doctor --deep says how far; petrel restore, or a new home from a snapshot'
  let said = 0
  const progress = (blocks: number): void => {
    if (blocks < said + SAID_EVERY) return
    said = blocks
    line(io, `${blocks} blocks read`)
  }
  try {
    const report = deep ? await (await import('../../server/checkHome.ts')).checkHome(home, progress) : undefined
    if (!existsSync(join(home.chain, DATA_FILE)))
      return { check: { name, state: 'ok', found: 'there is none yet', remedy: '' } }
    if (!deep) (await import('../../server/homeBackup.ts')).assertStoreSound(home)
    if (report === undefined) return { check: { name, state: 'ok', found: 'whole by its outline', remedy: '' } }
    const { blocks, bytes, damagedCount, chain, messages } = report
    const depth =
      chain === undefined
        ? ''
        : `, epochs ${chain.head} to ${chain.lowest}, ${chain.stateBlocks} blocks of the head's state`
    const seen = `${blocks} blocks, ${bytes} bytes, ${damagedCount} damaged${depth}, ${messages} messages of this node`
    const found = [seen, ...report.faults].join('; ')
    return {
      check: {
        name,
        state: report.faults.length > 0 ? 'fault' : 'ok',
        found,
        remedy: report.faults.length > 0 ? remedy : '',
      },
      report,
    }
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return { check: { name, state: 'fault', found: errorMessage(error), remedy } }
  }
}

/** What the running node says of itself. */
async function checkRunning(io: ProgramIo, home: Home, pid: number): Promise<Check[]> {
  let url = 'its port'
  let text: string
  try {
    // This home's node, whichever one FULLNODE_API_INFO names.
    ;({ url } = await findEndpoint({ ...io, env: {} }, home.path))
    text = await (await fetch(`${url}/health/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) })).text()
  } catch (error) {
    const which = pid === ELSEWHERE ? 'node of another container' : `node with process number ${pid}`
    const found = `the ${which} does not answer at ${url}: ${errorMessage(error)}`
    const remedy = 'it may be starting: look into its log; restart it: what was told to be done is on disk'
    return [{ name: 'port', state: 'fault', found, remedy }]
  }
  const rules = [...text.matchAll(/^\[([+!])\] (.*)$/gm)].map(([, sign, found = '']): Check => {
    const [, name = 'node', remedy = 'docs/operate.md'] = HEALTH_REMEDIES.find(([word]) => word.test(found)) ?? []
    return sign === '+' ? { name, state: 'ok', found, remedy: '' } : { name, state: 'fault', found, remedy }
  })
  return [{ name: 'port', state: 'ok', found: `the node answers at ${url}`, remedy: '' }, ...rules]
}

/** Whether the file of options is right, and the next start gets its port. */
async function checkStart(commands: readonly Command[], home: Home, io: ProgramIo): Promise<Check[]> {
  const daemon = commands.find((command) => command.name() === 'daemon')
  if (daemon === undefined) return []
  let where: { readonly host: string; readonly port: number }
  try {
    const settings = new Map(applySettings(daemon, commands, home.path, io.env).map(({ key, value }) => [key, value]))
    where = { host: String(settings.get('api-host')), port: Number(settings.get('api')) }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return [
      { name: 'options', state: 'fault', found: error.message, remedy: `mend ${home.settings}; petrel config check` },
    ]
  }
  const { host, port } = where
  try {
    await assertPortFree(host, port)
    return [{ name: 'port', state: 'ok', found: `no node runs here; ${host}:${port} is free`, remedy: '' }]
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    const remedy = 'end what listens there, or: petrel config set daemon.api <port>'
    return [{ name: 'port', state: 'fault', found: error.message, remedy }]
  }
}

const SIGNS = {
  ok: ['green', '[ok]'],
  warning: ['yellow', '[??]'],
  fault: ['red', '[!!]'],
  unknown: ['yellow', '[--]'],
} as const

/** Strangers are asked only when a person says so. */
const UNCOMPARED_CLOCK: Check = {
  name: 'clock',
  state: 'unknown',
  found: 'compared with no other',
  remedy: 'petrel doctor --ntp pool.ntp.org asks a time server',
}

async function doctor(
  context: CliContext,
  commands: readonly Command[],
  { deep = false, ntp }: { deep?: boolean; ntp?: string },
): Promise<void> {
  const { io } = context
  const home = new Home(repoPath(io, context.repo()))
  if (!existsSync(home.path)) throw new CliError('FAILED', `there is no home at ${home.path}`)
  const pid = lockHolder(home.lock)
  const { checkBundles, checkSnapshot } = await import('../../server/checkParts.ts')
  const { checkKeys } = await import('../../server/checkKeys.ts')
  const store = await checkStoreOf(home, deep, io)
  const checks: Check[] = [
    ...checkPermissions(home),
    await checkKeys(home, io.env.PETREL_PASSPHRASE),
    checkDisk(home),
    checkDescriptors(pid),
    ntp === undefined ? UNCOMPARED_CLOCK : await checkClock(ntp, () => io.now()),
    ...(pid === undefined ? await checkStart(commands, home, io) : await checkRunning(io, home, pid)),
    checkSnapshot(home),
    ...(await checkBundles(home)),
    store.check,
  ]
  const faults = checks.filter(({ state }) => state === 'fault')
  context.result({
    Checks: checks.map(({ name, state, found, remedy }) => ({ Name: name, State: state, Found: found, Do: remedy })),
    Faults: faults.map(({ found }) => found),
    Blocks: store.report?.blocks ?? null,
    Damaged: store.report?.damagedCount ?? null,
  })
  for (const { name, state, found, remedy } of checks) {
    const [colour, sign] = SIGNS[state]
    line(io, `${paint(io, colour, sign)} ${name}: ${found}`)
    if (remedy !== '') line(io, `     ${remedy}`)
  }
  if (faults.length > 0) throw new CliError('FAILED', `${faults.length} faults`)
  line(io, 'no faults')
}

/** Adds the command. */
export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('What is wrong with a node, its home and its machine, and what to do; works while the node runs')
    .option(
      '--deep',
      'read the whole store: every block against its CID, headers down to genesis, the state of the head',
    )
    .option('--ntp <server>', 'compare the clock with a time server, such as pool.ntp.org')
    .action((options: { deep?: boolean; ntp?: string }) => {
      const commands = program.commands.filter((command) => RUNNING.includes(command.name()))
      return doctor(context, commands, options)
    })
}
