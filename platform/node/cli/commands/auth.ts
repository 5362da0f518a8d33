/** `auth create-token|revoke|api-info`. @see lotus cli/auth.go */
import type { Command } from 'commander'
import { isPermission, permissionsUpTo } from '../../../../src/rpc/permission.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import { line } from '../io.ts'
import { repoPath } from '../rpcClient.ts'

async function newToken({ node }: CliContext, level: string | undefined): Promise<string> {
  if (level === undefined) throw new CliError('USAGE', '--perm flag not set: read, write, sign or admin')
  if (!isPermission(level))
    throw new CliError('USAGE', `--perm flag has to be one of: read,write,sign,admin, got "${level}"`)
  const encoded = await (await node()).call<string>('AuthNew', [permissionsUpTo(level)])
  return Buffer.from(encoded, 'base64').toString('utf8')
}

async function apiAddress({ io, repo }: CliContext): Promise<string> {
  const info = io.env.FULLNODE_API_INFO
  if (info !== undefined && info !== '')
    return info.trim().replace(/^[a-zA-Z0-9\-_]+\.[a-zA-Z0-9\-_]+\.[a-zA-Z0-9\-_]*:/, '')
  try {
    return (await io.readFile(`${repoPath(io, repo())}/api`)).trim()
  } catch {
    throw new CliError('CONNECTION', 'could not get API endpoint: no node is running')
  }
}

export function addAuthCommands(program: Command, context: CliContext): void {
  const { io, node } = context
  const auth = program.command('auth').description('Manage RPC permissions')
  auth
    .command('create-token')
    .description('Create token')
    .option('--perm <level>', 'permission to assign to the token, one of: read, write, sign, admin')
    .action(async (options: { perm?: string }) => line(io, await newToken(context, options.perm)))
  auth
    .command('api-info')
    .description('Get token with API info required to connect to this node')
    .option('--perm <level>', 'permission to assign to the token, one of: read, write, sign, admin')
    .action(async (options: { perm?: string }) =>
      line(io, `FULLNODE_API_INFO=${await newToken(context, options.perm)}:${await apiAddress(context)}`),
    )
  auth
    .command('revoke')
    .description('Make a token invalid at once')
    .argument('<token>')
    .action(async (token: string) => {
      await (await node()).call('AuthRevoke', [token])
      line(io, 'token revoked')
    })
}
