import type { Command } from 'commander'
import { isPermission, permissionsUpTo } from '../../../src/rpc/permission.ts'
import { line } from '../../server/programIo.ts'
import type { CliContext } from '../context.ts'
import { CliError, isMethodMissing } from '../errors.ts'
import { repoPath } from '../rpcClient.ts'

interface TokenOptions {
  readonly perm?: string
  readonly expires?: string
}

const UNIT_SEC: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86400 }

/** `90`, `90s`, `15m`, `24h`, `30d` in seconds; nothing is 0, for ever. */
function lifetimeSec(text: string | undefined): number {
  if (text === undefined) return 0
  const [, digits, unit] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? []
  const seconds = Number(digits) * (UNIT_SEC[unit ?? ''] ?? Number.NaN)
  if (digits === undefined || !(seconds > 0)) {
    throw new CliError('USAGE', `--expires: "${text}" is no duration such as 3600, 90s, 15m, 24h or 30d`)
  }
  return seconds
}

/** A token of its own, which can be revoked without others. Lotus has no such method; there the common one is taken. */
async function newToken({ node }: CliContext, { perm, expires }: TokenOptions): Promise<string> {
  if (perm === undefined) throw new CliError('USAGE', '--perm flag not set: read, write, sign or admin')
  if (!isPermission(perm)) {
    throw new CliError('USAGE', `--perm flag has to be one of: read,write,sign,admin, got "${perm}"`)
  }
  const allow = permissionsUpTo(perm)
  const seconds = lifetimeSec(expires)
  const client = await node()
  try {
    return await client.call('AuthNewToken', [allow, { ExpiresIn: seconds }])
  } catch (error) {
    if (!isMethodMissing(error) || seconds > 0) throw error
    const encoded = await client.call('AuthNew', [allow])
    return Buffer.from(encoded, 'base64').toString('utf8')
  }
}

async function apiAddress({ io, repo }: CliContext): Promise<string> {
  const info = io.env.FULLNODE_API_INFO
  if (info !== undefined && info !== '')
    return info.trim().replace(/^[a-zA-Z0-9\-_]+\.[a-zA-Z0-9\-_]+\.[a-zA-Z0-9\-_]*:/, '')
  try {
    return (await io.readFile(`${repoPath(io, repo())}/api`)).trim()
  } catch (cause) {
    throw new CliError('CONNECTION', 'could not get API endpoint: no node is running', {}, { cause })
  }
}

/** `auth create-token|revoke|api-info`. @see lotus cli/auth.go */
export function addAuthCommands(program: Command, context: CliContext): void {
  const { io, node } = context
  const auth = program.command('auth').description('Manage RPC permissions')
  auth
    .command('create-token')
    .description('Create token')
    .option('--perm <level>', 'permission to assign to the token, one of: read, write, sign, admin')
    .option('--expires <duration>', 'the token is void after it: 3600, 90s, 15m, 24h, 30d (default: never)')
    .action(async (options: TokenOptions) => {
      const token = await newToken(context, options)
      context.result({ Token: token })
      line(io, token)
    })
  auth
    .command('api-info')
    .description('Get token with API info required to connect to this node')
    .option('--perm <level>', 'permission to assign to the token, one of: read, write, sign, admin')
    .option('--expires <duration>', 'the token is void after it: 3600, 90s, 15m, 24h, 30d (default: never)')
    .action(async (options: TokenOptions) => {
      const info = `${await newToken(context, options)}:${await apiAddress(context)}`
      context.result({ FULLNODE_API_INFO: info })
      line(io, `FULLNODE_API_INFO=${info}`)
    })
  auth
    .command('revoke')
    .description('Make a token invalid at once')
    .argument('<token>')
    .action(async (token: string) => {
      await (await node()).call('AuthRevoke', [token])
      line(io, 'token revoked')
    })
}
