/** `wallet …`. @see lotus cli/wallet.go */
import type { Command } from 'commander'
import { unlessThrown } from '../../../src/base/errors.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import type { JsonActor, JsonSignature } from '../answers.ts'
import { addressArgument, base64ToHex, type CliContext, filArgument, hexToBase64 } from '../context.ts'
import { CliError } from '../errors.ts'
import { senderOf } from '../messages.ts'
import type { TypesKeyInfo } from '../nodeMethods.ts'
import { type RpcClient, repoPath } from '../rpcClient.ts'
import { type TableRow, tableText } from '../table.ts'
import { addWalletWatchCommand } from './walletWatch.ts'

interface JsonKeyInfo {
  readonly Type: string
  readonly PrivateKey: string
}

/** A head older than this many block delays says that the node is behind. */
const SYNC_TOLERANCE_SEC = 30

/** The envelope of FRC-0102 around bytes that a person signs. @see lotus cli/wallet.go wrapMessageFRC0102 */
function frc0102Envelope(data: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([0x19]), Buffer.from(`Filecoin Signed Message:\n${data.length}`), data])
}

function signedData(hex: string, raw: boolean | undefined): string {
  const data = Buffer.from(hexToBase64(hex, 'message'), 'base64')
  return (raw === true ? data : Buffer.from(frc0102Envelope(data))).toString('base64')
}

async function list(
  context: CliContext,
  options: { addrOnly?: boolean; id?: boolean; market?: boolean },
): Promise<void> {
  const { io } = context
  const client = await context.node()
  const addresses = await client.call('WalletList')
  if (options.addrOnly === true) {
    context.result(addresses)
    for (const address of addresses) line(io, address)
    return
  }
  // No default key is no reason to fail.
  const preferred = await client.call('WalletDefaultAddress').catch(() => undefined)
  const rows: TableRow[] = []
  for (const address of addresses) rows.push(await walletRow(client, address, address === preferred, options))
  context.result(rows.map(({ cells, error }) => ({ ...cells, ...(error === undefined ? {} : { Error: error }) })))
  io.out(
    tableText(['Address', 'ID', 'Balance', 'Market(Avail)', 'Market(Locked)', 'Nonce', 'Default', 'Watch-only'], rows),
  )
}

async function walletRow(
  client: RpcClient,
  address: string,
  preferred: boolean,
  options: { id?: boolean; market?: boolean },
): Promise<TableRow> {
  let actor: Pick<JsonActor, 'Balance' | 'Nonce'> = { Balance: '0', Nonce: 0 }
  try {
    actor = await client.call('StateGetActor', [address, null])
  } catch (error) {
    if (!(error instanceof CliError) || !error.message.includes('actor not found')) {
      return { cells: { Address: address }, error: (error as Error).message }
    }
  }
  const cells: Record<string, string> = {
    Address: address,
    Balance: formatFil(BigInt(actor.Balance)),
    Nonce: String(actor.Nonce),
  }
  if (preferred) cells.Default = 'X'
  if (!(await client.call('WalletHas', [address]))) cells['Watch-only'] = 'X'
  if (options.id === true) cells.ID = await client.call('StateLookupID', [address, null]).catch(() => 'n/a')
  if (options.market === true) {
    const market = await client.call('StateMarketBalance', [address, null]).catch(() => undefined)
    if (market !== undefined) {
      cells['Market(Avail)'] = formatFil(BigInt(market.Escrow) - BigInt(market.Locked))
      cells['Market(Locked)'] = formatFil(BigInt(market.Locked))
    }
  }
  return { cells }
}

async function balance(context: CliContext, address: string | undefined): Promise<void> {
  const { io } = context
  const client = await context.node()
  const of = address === undefined ? undefined : addressArgument(address)
  const who = of ?? (await client.call('WalletDefaultAddress'))
  const amount = BigInt(await client.call('WalletBalance', [who]))
  const head = await client.call('ChainHead')
  const behind = io.now() / 1000 - Math.min(...head.Blocks.map((block) => block.Timestamp)) >= SYNC_TOLERANCE_SEC
  context.result({ Address: who, Balance: amount.toString() })
  const warning = amount === 0n && behind ? ' (warning: may display 0 if chain sync in progress)' : ''
  line(io, `${formatFil(amount)}${warning}`)
}

function exportedText(key: TypesKeyInfo, format: string): string {
  const json = JSON.stringify({ Type: key.Type, PrivateKey: key.PrivateKey })
  switch (format) {
    case 'hex-lotus':
      return Buffer.from(json).toString('hex')
    case 'json-lotus':
      return json
    case 'hex-eth': {
      if (key.Type !== 'secp256k1' && key.Type !== 'delegated') {
        throw new CliError('USAGE', `hex-eth format requires a secp256k1 or delegated key, got: ${key.Type}`)
      }
      return `0x${base64ToHex(key.PrivateKey)}`
    }
    default:
      throw new CliError('USAGE', `unrecognized format: ${format}`)
  }
}

const GFC_KEY_TYPES: Readonly<Record<number, string>> = { 1: 'secp256k1', 2: 'bls', 3: 'delegated' }

/** Errors of a key's text neither quote it nor have a cause that does: they end up in logs. */
function parseKeyJson(text: string): Record<string, unknown> {
  const key = unlessThrown(() => JSON.parse(text) as unknown, SyntaxError)
  if (typeof key === 'object' && key !== null) return key as Record<string, unknown>
  throw new CliError('USAGE', 'the key is not in the given format: its text is no JSON')
}

/** A key in hexadecimal, as base64. */
function keyHexToBase64(text: string): string {
  const key = unlessThrown(() => hexToBase64(text, 'key'), CliError)
  if (key !== undefined) return key
  const hint = text.startsWith('{') ? ' but JSON: give --format json-lotus' : ''
  throw new CliError('USAGE', `the key is not hexadecimal${hint}`)
}

function importedKey(input: string, format: string, type: string): JsonKeyInfo {
  const text = input.trim()
  switch (format) {
    case 'hex-lotus':
      return parseKeyJson(Buffer.from(keyHexToBase64(text), 'base64').toString('utf8')) as unknown as JsonKeyInfo
    case 'json-lotus':
      return parseKeyJson(text) as unknown as JsonKeyInfo
    case 'gfc-json': {
      const first = (parseKeyJson(text).KeyInfo as { PrivateKey: string; SigType: number }[] | undefined)?.[0]
      const keyType = first === undefined ? undefined : GFC_KEY_TYPES[first.SigType]
      if (first === undefined || keyType === undefined)
        throw new CliError('USAGE', `unrecognized key type: ${first?.SigType ?? 'none'}`)
      return { Type: keyType, PrivateKey: first.PrivateKey }
    }
    case 'hex-eth': {
      if (type !== 'secp256k1' && type !== 'delegated') {
        throw new CliError('USAGE', `--type for hex-eth format must be 'secp256k1' or 'delegated', got: "${type}"`)
      }
      return { Type: type, PrivateKey: keyHexToBase64(text) }
    }
    default:
      throw new CliError('USAGE', `unrecognized format: ${format}`)
  }
}

async function importKey(
  { io, node, result }: CliContext,
  path: string | undefined,
  options: { format: string; type: string; asDefault?: boolean },
): Promise<void> {
  const input = path === undefined || path === '-' ? await io.stdin() : await io.readFile(path)
  const client = await node()
  const address = await client.call('WalletImport', [importedKey(input, options.format, options.type)])
  if (options.asDefault === true) await client.call('WalletSetDefault', [address])
  result({ Address: address })
  line(io, `imported key ${address} successfully!`)
}

async function sign(
  { io, node, result }: CliContext,
  address: string,
  hex: string,
  options: { raw?: boolean },
): Promise<void> {
  const signature = await (await node()).call('WalletSign', [addressArgument(address), signedData(hex, options.raw)])
  const text = signature.Type.toString(16).padStart(2, '0') + base64ToHex(signature.Data)
  result({ Signature: text })
  line(io, text)
}

async function verify(
  { io, node, result }: CliContext,
  address: string,
  hex: string,
  signatureHex: string,
  options: { raw?: boolean },
): Promise<void> {
  const bytes = Buffer.from(hexToBase64(signatureHex, 'signature'), 'base64')
  const signature: JsonSignature = { Type: bytes[0] ?? 0, Data: bytes.subarray(1).toString('base64') }
  const valid = await (await node()).call('WalletVerify', [
    addressArgument(address),
    signedData(hex, options.raw),
    signature,
  ])
  result({ Valid: valid })
  if (!valid) {
    line(io, 'invalid')
    throw new CliError('FAILED', 'CLI Verify called with invalid signature')
  }
  line(io, 'valid')
}

/** An address as a command's only result. */
function say(context: CliContext, address: string): void {
  context.result({ Address: address })
  line(context.io, address)
}

/** Market messages: added or taken out. @see lotus cli/wallet.go walletMarketAdd, walletMarketWithdraw */
function addMarketCommands(wallet: Command, context: CliContext): void {
  const { io, node, result } = context
  const market = wallet.command('market').description('Interact with market balances')
  market
    .command('add')
    .description('Add funds to the Storage Market Actor')
    .argument('<amount>', 'in FIL')
    .option('--from <address>', 'account to move funds from (default: the wallet default address)')
    .option('--address <address>', 'market address to move funds to (default: the same)')
    .action(async (amount: string, options: { from?: string; address?: string }) => {
      const client = await node()
      const from = await senderOf(client, options.from === undefined ? undefined : addressArgument(options.from))
      const to = options.address === undefined ? from : addressArgument(options.address)
      const params = [from, to, filArgument(amount)] as const
      const { '/': cid } = await client.call('MarketAddBalance', params)
      result({ Message: cid })
      line(io, `AddBalance message cid: ${cid}`)
    })
  market
    .command('withdraw')
    .description('Withdraw funds from the Storage Market Actor')
    .argument('[amount]', 'in FIL (default: all that is not reserved)')
    .option('--wallet <address>', 'account that the message is sent from')
    .option('--address <address>', 'market address to withdraw from')
    .action(async (amount: string | undefined, options: { wallet?: string; address?: string }) => {
      const client = await node()
      const from = await senderOf(client, options.wallet === undefined ? undefined : addressArgument(options.wallet))
      const of = options.address === undefined ? from : addressArgument(options.address)
      const { Escrow: escrow, Locked: locked } = await client.call('StateMarketBalance', [of, null])
      const reserved = await client.call('MarketGetReserved', [of])
      const free = BigInt(escrow) - BigInt(locked) - BigInt(reserved)
      const value = amount === undefined ? free : BigInt(filArgument(amount))
      if (value <= 0n) throw new CliError('FAILED', 'no unlocked funds available to withdraw')
      const sent = await client.call('MarketWithdraw', [from, of, value.toString()])
      result({ Message: sent?.['/'] ?? null })
      line(io, `WithdrawBalance message cid: ${sent?.['/'] ?? 'none'}`)
    })
}

/** Adds `wallet` and its subcommands, `market` and `watch` among them. */
export function addWalletCommands(program: Command, context: CliContext): void {
  const { io, node, repo } = context
  const wallet = program.command('wallet').description('Manage wallet')
  addMarketCommands(wallet, context)
  addWalletWatchCommand(wallet, context)
  wallet
    .command('new')
    .description('Generate a new key of the given type')
    .argument('[type]', 'bls, secp256k1 or delegated', 'secp256k1')
    .action(async (type: string) => say(context, await (await node()).call('WalletNew', [type])))
  wallet
    .command('list')
    .description('List wallet address')
    .option('-a, --addr-only', 'Only print addresses')
    .option('-i, --id', 'Output ID addresses')
    .option('-m, --market', 'Output market balances')
    .action((options: { addrOnly?: boolean; id?: boolean; market?: boolean }) => list(context, options))
  wallet
    .command('watch-only')
    .description('Keep an address without its key: listed, with its balance; it signs elsewhere (send --offline)')
    .argument('<address>')
    .action(async (text: string) => {
      const address = addressArgument(text)
      const key = { Type: 'watch-only', PrivateKey: Buffer.from(address).toString('base64') }
      say(context, await (await node()).call('WalletImport', [key]))
    })
  wallet
    .command('balance')
    .description('Get account balance')
    .argument('[address]')
    .action((address: string | undefined) => balance(context, address))
  wallet
    .command('default')
    .description('Get default wallet address')
    .action(async () => say(context, await (await node()).call('WalletDefaultAddress')))
  wallet
    .command('set-default')
    .description('Set default wallet address')
    .argument('<address>')
    .action(async (address: string) => {
      await (await node()).call('WalletSetDefault', [addressArgument(address)])
      line(io, `Default address set to: ${address}`)
    })
  wallet
    .command('export')
    .description('export keys')
    .argument('<address>')
    .option('--format <format>', 'hex-lotus, json-lotus or hex-eth', 'hex-lotus')
    .action(async (address: string, options: { format: string }) => {
      const key = exportedText(await (await node()).call('WalletExport', [addressArgument(address)]), options.format)
      context.result({ Key: key })
      line(io, key)
    })
  wallet
    .command('import')
    .description('import keys; reads standard input without a path')
    .argument('[path]')
    .option('--format <format>', 'hex-lotus, json-lotus, gfc-json or hex-eth', 'hex-lotus')
    .option('--type <type>', 'key type for hex-eth: secp256k1 or delegated', 'delegated')
    .option('--as-default', 'import the given key as your new default key')
    .action((path: string | undefined, options: { format: string; type: string; asDefault?: boolean }) =>
      importKey(context, path, options),
    )
  wallet
    .command('sign')
    .description('sign a message')
    .argument('<address>')
    .argument('<hexMessage>')
    .option('--raw', 'sign raw bytes without FRC-0102 envelope (not recommended)')
    .action((address: string, hex: string, options: { raw?: boolean }) => sign(context, address, hex, options))
  wallet
    .command('verify')
    .description('verify the signature of a message')
    .argument('<address>')
    .argument('<hexMessage>')
    .argument('<signature>')
    .option('--raw', 'verify raw bytes without FRC-0102 envelope (not recommended)')
    .action((address: string, hex: string, signature: string, options: { raw?: boolean }) =>
      verify(context, address, hex, signature, options),
    )
  wallet
    .command('delete')
    .description('Soft delete an address from the wallet - hard deletion needed for permanent removal')
    .argument('<address>')
    .action(async (address: string) => {
      await (await node()).call('WalletDelete', [addressArgument(address)])
      line(io, `Soft deleting address: ${address}`)
      line(io, `Hard deletion of the address in \`${repoPath(io, repo())}/keystore\` is needed for permanent removal`)
    })
}
