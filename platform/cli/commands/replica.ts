/** `replica`: a node whose head and history are those of an index. */
import type { Command } from 'commander'
import type { ReplicaOptions } from '../../server/options.ts'
import type { CliContext } from '../context.ts'
import { indexUrl } from '../indexUrl.ts'
import { parseApiInfo, repoPath } from '../rpcClient.ts'
import { type AccessFlags, accessFlags, accessOptions, apiPort, cacheMib, collect, diskCacheMib } from '../serving.ts'

interface ReplicaFlags extends AccessFlags {
  readonly network: string
  readonly genesis?: string
  readonly index: string
  readonly blocks: string[]
  readonly writer?: string
  readonly api: string
  readonly apiHost: string
  readonly cache?: string
  readonly diskCache: string
  readonly log: string
}

/** Adds the command. */
export function addReplicaCommand(
  program: Command,
  context: CliContext,
  run: (options: ReplicaOptions, context: CliContext) => Promise<void>,
): void {
  const { io } = context
  accessFlags(program.command('replica'))
    .description(
      'Answer from the PostgreSQL that a node writes with --index, and from blocks that are fetched (docs/scale.md)',
    )
    .requiredOption('--index <url>', 'postgres://user@host,host/database, of a user who may read')
    .requiredOption(
      '--blocks <where>',
      'who has the blocks: an RPC endpoint (http://…), an archive (a file, or one with an index in it at an https:// or s3:// address), a peer (a multiaddr with /p2p/); repeatable',
      collect,
    )
    .option('--writer <api-info>', 'API of the writer, which gets what is pushed: <token>:<multiaddr>, or a URL')
    .option('--network <name>', 'mainnet, calibnet, butterflynet, or a network.json', 'mainnet')
    .option('--genesis <file>', 'genesis CAR (default: beside the network.json)')
    .option('--api <port>', 'port of the API; 0 takes a free one', '1234')
    .option('--api-host <address>', 'address that the API listens on', '127.0.0.1')
    .option('--cache <MiB>', 'memory for decoded state and blocks, all threads together (default: by the machine)')
    .option('--disk-cache <MiB>', 'disk for fetched blocks, headers apart; what is too much is deleted', '4096')
    .option('--log <levels>', 'what is logged: debug, info, warn, error, silent; of parts: info,p2p=debug', 'info')
    .action(async (flags: ReplicaFlags) => {
      const options: ReplicaOptions = {
        ...{ repo: repoPath(io, context.repo()), host: flags.apiHost, port: apiPort(flags.api) },
        ...accessOptions(flags),
        ...{ monitor: false, maxRequestBytes: undefined, passphrase: undefined, remoteWallet: undefined },
        net: undefined,
        ...{ keepState: undefined, index: undefined, configText: '' },
        cacheMib: cacheMib(flags.cache),
        // Its blocks are elsewhere; more of it is more replicas.
        rpcThreads: 0,
        diskCacheMib: diskCacheMib(flags.diskCache),
        log: { levels: flags.log, format: 'text', toFile: false },
        ...{ network: flags.network, genesis: flags.genesis, indexUrl: indexUrl(flags.index), blocks: flags.blocks },
        writer: flags.writer === undefined ? undefined : parseApiInfo(flags.writer),
        reload: async () => options,
      }
      await run(options, context)
    })
}
