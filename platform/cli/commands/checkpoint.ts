/** `checkpoint make`: where a light node begins. */
import type { Command } from 'commander'
import { stringifyJson } from '../../../src/codec/jsonText.ts'
import { f3ManifestOf } from '../../../src/consensus/f3/manifest.ts'
import { checkpointJson } from '../../../src/light/checkpoint.ts'
import { makeCheckpoint } from '../../../src/light/makeCheckpoint.ts'
import { rpcSource } from '../../../src/light/rpcSource.ts'
import { fetchPost } from '../../../src/rpc/client/httpTransport.ts'
import { endpointUrl } from '../../server/lightFiles.ts'
import { findNetwork } from '../../server/networkFiles.ts'
import { line } from '../../server/programIo.ts'
import { type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'

const DATE_LENGTH = 'YYYY-MM-DD'.length

interface MakeFlags {
  readonly network: string
  readonly instance?: string
}

/** Adds the commands. */
export function addCheckpointCommands(program: Command, { io, result }: CliContext): void {
  const checkpoint = program.command('checkpoint').description('Where a light node begins')
  checkpoint
    .command('make')
    .description('Ask RPC endpoints for the power table of an F3 instance; refused unless all agree')
    .argument('<rpc...>', 'addresses of endpoints, of different operators')
    .option('--network <name>', 'mainnet, calibnet, or a network.json', 'mainnet')
    .option('--instance <n>', 'F3 instance (default: the newest that all endpoints have)')
    .action(async (endpoints: string[], { network, instance }: MakeFlags) => {
      const f3Network = f3ManifestOf(findNetwork(network))?.networkName
      if (f3Network === undefined) throw new CliError('USAGE', `network: ${network} has no F3`)
      const sources = endpoints.map((text) => rpcSource(text, fetchPost(fetch, endpointUrl(text)), false))
      const date = new Date(io.now()).toISOString().slice(0, DATE_LENGTH)
      const wanted = {
        f3Network,
        date,
        instance: instance === undefined ? undefined : wholeNumber(instance, 'instance'),
      }
      const made = checkpointJson(await makeCheckpoint(sources, wanted, io.signal))
      result(made)
      line(io, stringifyJson(made))
    })
}
