/**
 * `daemon`, `daemon stop`, `devnet`: commands that run a node in this process. They only read the command line; what
 * they run is passed in.
 */
import type { Command } from 'commander'
import { errorMessage, PetrelError } from '../../../src/base/errors.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { type DevnetOptions, devnetOptions } from '../../../src/devnet/options.ts'
import type { ActorsMode } from '../../../src/node/actorsCode.ts'
import { PROOFS_MODES, type ProofsMode, VALIDATE_MODES, type ValidateMode } from '../../../src/node/modes.ts'
import { MAX_HEADS } from '../../../src/sync/limits.ts'
import { parseFil } from '../../../src/types/fil.ts'
import { parseLevels } from '../../server/logger.ts'
import type {
  DaemonOptions,
  DevnetRunOptions,
  IndexOptions,
  LogSettings,
  ReplicaOptions,
  ServeOptions,
} from '../../server/options.ts'
import { line } from '../../server/programIo.ts'
import type { SignerOptions } from '../../server/runSigner.ts'
import type { OfflineSignOptions } from '../../server/signOffline.ts'
import { applySettings, defaultConfig } from '../configFile.ts'
import { type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { indexUrl } from '../indexUrl.ts'
import { parseApiInfo, repoPath } from '../rpcClient.ts'
import { type AccessFlags, accessFlags, accessOptions, apiPort, cacheMib, collect, readThreads } from '../serving.ts'
import { addConfigCommands } from './config.ts'
import { addSignCommand } from './offline.ts'
import { addReplicaCommand } from './replica.ts'

/** The file of options, as a command reads it. */
interface SettingsFile {
  readonly commands: readonly Command[]
  /** The command's flags, with what stands in environment and file. @throws CliError */
  read(): ServeFlags
}

/** What runs a node until the signal of the context's io is aborted. */
export interface NodeRunner {
  daemon(options: DaemonOptions, context: CliContext): Promise<void>
  devnet(options: DevnetRunOptions, context: CliContext): Promise<void>
  replica(options: ReplicaOptions, context: CliContext): Promise<void>
  signer(options: SignerOptions, context: CliContext): Promise<void>
  sign(options: OfflineSignOptions, context: CliContext): Promise<Json>
}

interface ServeFlags extends AccessFlags {
  readonly api: string
  readonly apiHost: string
  readonly apiMaxReqSize?: string
  readonly monitor?: boolean
  readonly passphraseFile?: string
  readonly remoteWallet?: string
  readonly net: boolean
  readonly listen?: string[]
  readonly announce?: string[]
  readonly hide?: string[]
  readonly bootstrap?: string[]
  readonly upnp?: boolean
  readonly keepState: string
  readonly index?: string
  readonly indexFrom?: string
  readonly cache?: string
  readonly rpcThreads?: string
  readonly log: string
  readonly logFormat: string
  readonly logFile?: boolean
}

interface DaemonFlags extends ServeFlags {
  readonly network?: string
  readonly snapshot?: string
  readonly snapshotProvider?: string
  readonly genesis?: string
  readonly validate?: string
  readonly syncPeers?: string
  readonly source?: string[]
  readonly pushToSources?: boolean
  readonly checkpoint?: string
  readonly proofs?: string
}

interface DevnetFlags extends ServeFlags {
  readonly miners: string
  readonly accounts: string
  readonly balance: string
  readonly blockTime: string
  readonly seed: string
  readonly networkName: string
  readonly genesisTime?: string
  readonly instant?: boolean
  readonly manual?: boolean
  readonly memory?: boolean
  readonly actors: string
  readonly actorDebugging?: boolean
  readonly f3?: string
  readonly produce?: string
}

/** Lotus' port. */
const DEFAULT_PORT = '1234'
/** Environment variable with the keystore's passphrase: it never stands in the process list. */
const PASSPHRASE_VARIABLE = 'PETREL_PASSPHRASE'

/** Validation looks back 900 epochs, F3 as far again. */
const MIN_KEPT_EPOCHS = 1800

function keptEpochs(text: string): number | undefined {
  if (text === 'all') return undefined
  const epochs = wholeNumber(text, 'keep-state')
  if (epochs < MIN_KEPT_EPOCHS) throw new CliError('USAGE', `keep-state: at least ${MIN_KEPT_EPOCHS} epochs are needed`)
  return epochs
}

/** @see lotus chain/sync_manager.go LOTUS_SYNC_BOOTSTRAP_PEERS */
function syncPeers(text: string): number {
  const peers = wholeNumber(text, 'sync-peers')
  if (peers < 1 || peers > MAX_HEADS) {
    throw new CliError('USAGE', `sync-peers: expected 1 to ${MAX_HEADS}, got "${text}"`)
  }
  return peers
}

function indexOptions({ index, indexFrom }: ServeFlags): IndexOptions | undefined {
  if (index === undefined) return undefined
  return { url: indexUrl(index), from: indexFrom === undefined ? undefined : wholeNumber(indexFrom, 'index-from') }
}

/** @param keepState - default of `--keep-state` */
function serveFlags(command: Command, keepState: string): Command {
  return accessFlags(command)
    .option('--api <port>', 'port of the API; 0 takes a free one', DEFAULT_PORT)
    .option('--api-host <address>', 'address that the API listens on', '127.0.0.1')
    .option('--api-max-req-size <bytes>', 'largest request that is read')
    .option('--monitor', 'serve the monitor at /monitor; off where the API listens on a public address')
    .option(
      '--passphrase-file <file>',
      `encrypts the keystore with the text of this file (or of $${PASSPHRASE_VARIABLE})`,
    )
    .option('--remote-wallet <api-info>', 'keys of another process (petrel signer, lotus-wallet): <token>:<multiaddr>')
    .option('--listen <multiaddr>', 'address for other nodes (repeatable; default: TCP, WebSocket, WebRTC)', collect)
    .option('--announce <multiaddr>', 'address to tell others instead (repeatable)', collect)
    .option('--hide <multiaddr>', 'address not to tell others, or a mask: /ip4/10.0.0.0/ipcidr/8 (repeatable)', collect)
    .option('--bootstrap <multiaddr>', 'node to connect to first (repeatable)', collect)
    .option('--upnp', 'ask the router to forward ports to this node')
    .option('--no-net', 'no connections to other nodes')
    .option('--keep-state <epochs>', 'older state is collected in the background; all: none is', keepState)
    .option(
      '--index <url>',
      'PostgreSQL that the chain is written into: postgres://user@host,host/database (docs/sql.md)',
    )
    .option('--index-from <epoch>', 'where an empty index begins (default: where the chain stands)')
    .option('--cache <MiB>', 'memory for decoded state and blocks, all threads together (default: by the machine)')
    .option('--rpc-threads <n>', 'threads that answer reads beside a busy node, 0 to 16 (default: processors - 1)')
    .option('--log <levels>', 'what is logged: debug, info, warn, error, silent; of parts: info,p2p=debug', 'info')
    .option('--log-format <format>', 'text, or json: one object per line', 'text')
    .option('--log-file', 'log into logs/petrel.log, too: 64 MB at most, five before it are kept')
}

/** The passphrase of a file, or of the environment. */
export async function passphrase({ io }: CliContext, file: string | undefined): Promise<string | undefined> {
  const text = file === undefined ? io.env[PASSPHRASE_VARIABLE] : (await io.readFile(file)).replace(/\r?\n$/, '')
  if (text === '') throw new CliError('USAGE', 'the passphrase is empty')
  return text
}

function logSettings({ log, logFormat, logFile }: ServeFlags): LogSettings {
  if (logFormat !== 'text' && logFormat !== 'json') {
    throw new CliError('USAGE', `log-format: expected text or json, got "${logFormat}"`)
  }
  try {
    parseLevels(log)
  } catch (error) {
    throw new CliError('USAGE', errorMessage(error), {}, { cause: error })
  }
  return { levels: log, format: logFormat, toFile: logFile === true }
}

/** What the command line, the environment and the file say together. */
async function serveOptions(context: CliContext, flags: ServeFlags, file: SettingsFile): Promise<ServeOptions> {
  const port = apiPort(flags.api)
  return {
    repo: repoPath(context.io, context.repo()),
    host: flags.apiHost,
    port,
    ...accessOptions(flags),
    monitor: flags.monitor === true,
    maxRequestBytes:
      flags.apiMaxReqSize === undefined ? undefined : wholeNumber(flags.apiMaxReqSize, 'api-max-req-size'),
    passphrase: await passphrase(context, flags.passphraseFile),
    remoteWallet: flags.remoteWallet === undefined ? undefined : parseApiInfo(flags.remoteWallet),
    net: flags.net
      ? {
          listen: flags.listen ?? [],
          announce: flags.announce ?? [],
          hide: flags.hide ?? [],
          bootstrap: flags.bootstrap ?? [],
          upnp: flags.upnp ?? false,
        }
      : undefined,
    keepState: keptEpochs(flags.keepState),
    index: indexOptions(flags),
    cacheMib: cacheMib(flags.cache),
    rpcThreads: readThreads(flags.rpcThreads),
    log: logSettings(flags),
    configText: defaultConfig(file.commands),
    reload: async () => await serveOptions(context, file.read(), file),
  }
}

/** Seconds, with a fraction, as milliseconds. */
function blockTimeMs(text: string): number {
  const seconds = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || !(seconds > 0)) {
    throw new CliError('USAGE', `block-time: "${text}" is no number of seconds above 0`)
  }
  return Math.round(seconds * 1000)
}

function actorsMode(text: string): ActorsMode {
  if (text === 'wasm' || text === 'native' || text === 'auto') return text
  throw new CliError('USAGE', `actors: expected wasm, native or auto, got "${text}"`)
}

function validateMode(text: string): ValidateMode {
  const mode = VALIDATE_MODES.find((known) => known === text)
  if (mode !== undefined) return mode
  throw new CliError('USAGE', `validate: expected ${VALIDATE_MODES.join(' or ')}, got "${text}"`)
}

function proofsMode(text: string): ProofsMode {
  const mode = PROOFS_MODES.find((known) => known === text)
  if (mode !== undefined) return mode
  throw new CliError('USAGE', `proofs: expected ${PROOFS_MODES.join(' or ')}, got "${text}"`)
}

/** Indexes with commas between. */
function produced(text: string): number[] {
  return text.split(',').map((index) => wholeNumber(index, 'produce'))
}

function devnetFlags(flags: DevnetFlags): DevnetOptions {
  const produce = flags.produce === undefined ? {} : { produce: produced(flags.produce) }
  try {
    return devnetOptions(givenOptions(flags, produce))
  } catch (error) {
    if (error instanceof PetrelError && !(error instanceof CliError)) throw new CliError('USAGE', error.message)
    throw error
  }
}

function givenOptions(flags: DevnetFlags, produce: { produce?: number[] }): Parameters<typeof devnetOptions>[0] {
  return {
    miners: wholeNumber(flags.miners, 'miners'),
    accountsPerKind: wholeNumber(flags.accounts, 'accounts'),
    balance: parseFil(flags.balance),
    blockTimeMs: flags.manual === true ? 0 : blockTimeMs(flags.blockTime),
    instant: flags.instant === true,
    seed: flags.seed,
    networkName: flags.networkName,
    actorDebugging: flags.actorDebugging === true,
    finalityFrom: flags.f3 === undefined ? undefined : wholeNumber(flags.f3, 'f3'),
    ...produce,
    ...(flags.genesisTime === undefined ? {} : { genesisTimestamp: wholeNumber(flags.genesisTime, 'genesis-time') }),
  }
}

function addSignerCommand(program: Command, context: CliContext, runner: NodeRunner): void {
  program
    .command('signer')
    .description("Hold keys for nodes: Lotus' wallet interface under a policy; no chain, no peers")
    .requiredOption('--policy <file>', 'JSON: which keys sign what, to whom, how much a day (docs/exchange.md)')
    .option('--api <port>', 'port of the interface; 0 takes a free one', '1777')
    .option('--api-host <address>', 'address that it listens on', '127.0.0.1')
    .option('--passphrase-file <file>', `opens the keystore with the text of this file (or of $${PASSPHRASE_VARIABLE})`)
    .action(async (flags: { policy: string; api: string; apiHost: string; passphraseFile?: string }) =>
      runner.signer(
        {
          repo: repoPath(context.io, context.repo()),
          host: flags.apiHost,
          port: apiPort(flags.api),
          policy: flags.policy,
          passphrase: await passphrase(context, flags.passphraseFile),
        },
        context,
      ),
    )
}

/** Adds the commands. */
export function addNodeCommands(program: Command, context: CliContext, runner: NodeRunner): void {
  const { io, node } = context
  const commands: Command[] = []
  const fileOf = (command: Command): SettingsFile => ({
    commands,
    read: () => {
      applySettings(command, commands, repoPath(io, context.repo()), io.env)
      return command.opts()
    },
  })
  const daemonOptions = async (command: Command): Promise<DaemonOptions> => {
    const file = fileOf(command)
    const flags = file.read() as DaemonFlags
    return {
      ...(await serveOptions(context, flags, file)),
      network: flags.network,
      snapshot: flags.snapshot,
      snapshotProvider: flags.snapshotProvider,
      genesis: flags.genesis,
      validate: flags.validate === undefined ? undefined : validateMode(flags.validate),
      syncPeers: flags.syncPeers === undefined ? undefined : syncPeers(flags.syncPeers),
      light: {
        sources: flags.source ?? [],
        pushesToSources: flags.pushToSources === true,
        checkpoint: flags.checkpoint,
      },
      proofs: flags.proofs === undefined ? undefined : proofsMode(flags.proofs),
    }
  }
  const devnetRunOptions = async (command: Command): Promise<DevnetRunOptions> => {
    const file = fileOf(command)
    const flags = file.read() as DevnetFlags
    return {
      ...(await serveOptions(context, flags, file)),
      devnet: devnetFlags(flags),
      inMemory: flags.memory === true,
      actors: actorsMode(flags.actors),
    }
  }
  const daemon = serveFlags(program.command('daemon'), '2000')
    .description('Start a node')
    .option('--network <name>', 'mainnet, calibnet, butterflynet, or a network.json')
    .option('--snapshot <file>', 'chain to open: a .car or .car.zst; latest: the newest of the known providers')
    .option('--snapshot-provider <url>', "another provider for latest, with lists in the form of Forest's archive")
    .option('--genesis <file>', 'genesis CAR (default: beside the network.json, else from other nodes)')
    .option(
      '--validate <mode>',
      'execute (default): every check; headers: no execution, state proven against headers; light: from a checkpoint on, ' +
        'by certificates of finality',
    )
    .option(
      '--sync-peers <n>',
      "nodes whose heads are heard before the first sync (default: the network's, 4 on mainnet); 1 where only yours are reached",
    )
    .option('--source <url>', 'light: RPC endpoint to ask, not to believe (repeatable)', collect)
    .option('--push-to-sources', 'light: give signed messages to the RPC endpoints, too')
    .option('--checkpoint <file>', "light: where to begin (checkpoint make; default: the network's own)")
    .option(
      '--proofs <mode>',
      'verify: storage proofs by the keys of `proofs fetch` (default: those that are here); receipts: by what the chain says',
    )
    .action(async (_flags: DaemonFlags, command: Command) => runner.daemon(await daemonOptions(command), context))
  daemon
    .command('stop')
    .description('Stop the running node')
    .action(async () => {
      await (await node()).call('Shutdown')
      line(io, 'node is stopping')
    })
  const devnet = serveFlags(program.command('devnet'), 'all')
    .description('Start a local chain with funded accounts')
    .option('--miners <n>', 'block producers', '1')
    .option('--accounts <n>', 'funded accounts of each kind', '3')
    .option('--balance <FIL>', 'funds of each account', '1000000')
    .option('--block-time <seconds>', 'time between epochs; below 1 the chain runs ahead of the clock', '4')
    .option('--instant', 'make a block as soon as a message arrives, ahead of the clock')
    .option('--manual', 'make blocks only when asked for by RPC, ahead of the clock')
    .option('--seed <text>', 'all keys come from it', 'petrel')
    .option('--network-name <name>', 'name of the network', 'petrel-devnet')
    .option('--genesis-time <seconds>', 'Unix time of genesis (default: one block time ago)')
    .option('--produce <indexes>', 'which block producers run here (0,2); others run in other nodes of the chain')
    .option('--memory', 'keep nothing between starts')
    .option('--actors <mode>', 'wasm, native, or auto: wasm when a devnet bundle is here', 'auto')
    .option('--actor-debugging', 'Wasm actors log, which costs gas: as Lotus debug builds execute')
    .option(
      '--f3 <epoch>',
      "block producers vote on what is final, from this epoch on: 10 is soon, 1000 a Lotus 2k's own",
    )
    .action(async (_flags: DevnetFlags, command: Command) => runner.devnet(await devnetRunOptions(command), context))
  addReplicaCommand(program, context, runner.replica)
  addSignerCommand(program, context, runner)
  addSignCommand(program, context, async (message, chainId, file) =>
    runner.sign(
      { repo: repoPath(io, context.repo()), passphrase: await passphrase(context, file), message, chainId },
      context,
    ),
  )
  commands.push(daemon, devnet)
  addConfigCommands(program, context, [
    { command: daemon, read: daemonOptions },
    { command: devnet, read: devnetRunOptions },
  ])
}
