import type { Command } from 'commander'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import { parseJson } from '../../../src/codec/jsonText.ts'
import { PROTOCOL_DELEGATED, PROTOCOL_ID, parseAddress } from '../../../src/types/address.ts'
import { parseEthAddress } from '../../../src/types/ethAddress.ts'
import { formatFil, parseFil } from '../../../src/types/fil.ts'
import { EamMethod, EvmMethod } from '../../../src/types/methodNumbers.ts'
import { line } from '../../server/programIo.ts'
import type { UnsentMessage } from '../answers.ts'
import { addressArgument, type CliContext, hexToBase64, wholeNumber } from '../context.ts'
import { CliError, isMethodMissing } from '../errors.ts'
import { executed } from '../messages.ts'
import type { MethodsV1 } from '../nodeMethods.ts'
import type { RpcClient } from '../rpcClient.ts'
import { writeDraft } from './offline.ts'

interface SendOptions {
  readonly from?: string
  readonly fromEthAddr?: string
  readonly gasPremium?: string
  readonly gasFeecap?: string
  readonly gasLimit?: string
  readonly nonce?: string
  readonly method?: string
  readonly paramsJson?: string
  readonly paramsHex?: string
  readonly csv?: string
  readonly force?: boolean
  readonly wait?: boolean
  readonly confidence?: string
  readonly offline?: string
}

/** Epochs on top of the execution that `--wait` waits for. @see lotus build/buildconstants MessageConfidence */
const WAIT_CONFIDENCE = 5

const EAM_ID = '10'
const CHECK_NAMES = [
  '',
  'MessageSerialize',
  'MessageSize',
  'MessageValidity',
  'MessageMinGas',
  'MessageMinBaseFee',
  'MessageBaseFee',
  'MessageBaseFeeLowerBound',
  'MessageBaseFeeUpperBound',
  'MessageGetStateNonce',
  'MessageNonce',
  'MessageGetStateBalance',
  'MessageBalance',
]

/** The letter of the node's network, from an address that it prints. */
async function networkPrefix(client: RpcClient): Promise<'f' | 't'> {
  const head = await client.call('ChainHead')
  return (head.Blocks[0]?.Miner[0] ?? 'f') === 't' ? 't' : 'f'
}

async function recipient(client: RpcClient, to: string): Promise<{ to: string; ethereum: boolean }> {
  if (!to.startsWith('0x')) {
    try {
      parseAddress(to)
    } catch (error) {
      throw new CliError(
        'USAGE',
        `failed to parse target address; address must be a valid FIL address or an ETH address: ${(error as Error).message}`,
      )
    }
    return { to, ethereum: false }
  }
  try {
    return { to: parseEthAddress(to).toString(await networkPrefix(client)), ethereum: true }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(
      'USAGE',
      `failed to parse target address; address must be a valid FIL address or an ETH address: ${(error as Error).message}`,
    )
  }
}

async function sender(client: RpcClient, options: SendOptions): Promise<string> {
  if (options.from !== undefined)
    return parseAddress(addressArgument(options.from, 'from')).toString(await networkPrefix(client))
  if (options.fromEthAddr !== undefined)
    return parseEthAddress(options.fromEthAddr).toString(await networkPrefix(client))
  return client.call('WalletDefaultAddress')
}

function cborBytes(base64: string): string {
  const writer = new CborWriter()
  writer.bytes(Buffer.from(base64, 'base64'))
  return Buffer.from(writer.finish()).toString('base64')
}

async function buildMessage(
  client: RpcClient,
  to: string,
  amount: string,
  options: SendOptions,
): Promise<UnsentMessage> {
  const target = await recipient(client, to)
  let value: bigint
  try {
    value = parseFil(amount)
  } catch (error) {
    throw new CliError('USAGE', `failed to parse amount: ${(error as Error).message}`)
  }
  const from = await sender(client, options)
  let params = options.paramsHex === undefined ? null : hexToBase64(options.paramsHex, 'params-hex')
  let method = options.method === undefined ? 0n : BigInt(wholeNumber(options.method, 'method'))
  let destination = target.to
  if (target.ethereum || parseAddress(from).protocol === PROTOCOL_DELEGATED) {
    if (options.method !== undefined)
      throw new CliError('USAGE', 'messages from f410f addresses may not specify a method number')
    if (options.paramsJson !== undefined)
      throw new CliError('USAGE', 'may not call with json parameters from an eth account')
    method = destination.slice(1) === `0${EAM_ID}` ? EamMethod.CreateExternal : EvmMethod.InvokeContract
    if (params !== null && params !== '') params = cborBytes(params)
    const protocol = parseAddress(destination).protocol
    if (protocol !== PROTOCOL_ID && protocol !== PROTOCOL_DELEGATED) {
      destination = await client.call('StateLookupID', [destination, null]).catch(() => {
        throw new CliError(
          'USAGE',
          `addresses starting with f410f can only send to other addresses starting with f410f, or id addresses. could not find id address for ${destination}`,
        )
      })
    }
  } else if (options.paramsJson !== undefined) {
    if (params !== null) throw new CliError('USAGE', "can only specify one of 'params-json' and 'params-hex'")
    params = await client.call(
      'StateEncodeParams',
      [
        await client.call('StateGetActor', [destination, null]).then((actor) => actor.Code),
        method,
        parseJson(options.paramsJson),
      ],
      'v1',
    )
  }
  return {
    Version: 0,
    To: destination,
    From: from,
    Nonce: options.nonce === undefined ? 0 : wholeNumber(options.nonce, 'nonce'),
    Value: value.toString(),
    GasLimit: options.gasLimit === undefined ? 0 : wholeNumber(options.gasLimit, 'gas-limit'),
    GasFeeCap: options.gasFeecap ?? '0',
    GasPremium: options.gasPremium ?? '0',
    Method: method,
    Params: params,
  }
}

type Checks = MethodsV1['MpoolCheckMessages']['result']

/** None of a node that has no such methods (Forest): it checks what it is given when that is pushed. */
async function checksOf(client: RpcClient, message: UnsentMessage, withNonce: boolean): Promise<Checks> {
  try {
    return [
      ...(await client.call('MpoolCheckMessages', [[{ Message: message, ValidNonce: withNonce }]], 'v1')),
      ...((await client.call('MpoolCheckPendingMessages', [message.From], 'v1')) ?? []),
    ]
  } catch (error) {
    if (isMethodMissing(error)) return []
    throw error
  }
}

async function failedChecks(client: RpcClient, message: UnsentMessage, withNonce: boolean): Promise<string[]> {
  const groups = await checksOf(client, message, withNonce)
  return groups.flatMap((group, index) =>
    group
      .filter((check) => !check.OK)
      .map(
        (check) =>
          `${index === 0 ? 'current' : check.Cid['/']} message failed a check ${CHECK_NAMES[check.Code] ?? check.Code}: ${check.Err}`,
      ),
  )
}

/** Estimates, checks, signs, pushes one message; returns its CID. */
async function sendOne(
  context: CliContext,
  client: RpcClient,
  message: UnsentMessage,
  withNonce: boolean,
  force: boolean,
): Promise<string> {
  const estimated = await client.call('GasEstimateMessageGas', [message, null, null], 'v1')
  if (!force) {
    const failed = await failedChecks(client, estimated, withNonce)
    if (failed.length > 0) {
      line(context.io, 'Following checks have failed:')
      for (const text of failed) line(context.io, text)
      throw new CliError('FAILED', 'message failed its checks; --force-send sends it all the same')
    }
  }
  if (withNonce) {
    const signed = await client.call('WalletSignMessage', [message.From, estimated], 'v1')
    await client.call('MpoolPush', [signed], 'v1')
    return signed.CID['/']
  }
  return (await client.call('MpoolPushMessage', [estimated, null], 'v1')).CID['/']
}

async function sendCsv(
  context: CliContext,
  client: RpcClient,
  path: string,
  options: SendOptions,
  force: boolean,
): Promise<void> {
  const rows = (await context.io.readFile(path))
    .split(/\r?\n/)
    .filter((text) => text.trim() !== '')
    .map((text) => text.split(',').map((cell) => cell.trim()))
  if (rows[0]?.join(',') !== 'Recipient,FIL,Method,Params') {
    throw new CliError('USAGE', 'csv: expected the header Recipient,FIL,Method,Params')
  }
  const messages: UnsentMessage[] = []
  for (const [index, cells] of rows.slice(1).entries()) {
    const [to, amount, method, params] = cells
    if (
      to === undefined ||
      amount === undefined ||
      method === undefined ||
      params === undefined ||
      cells.length !== 4
    ) {
      throw new CliError('USAGE', `csv: row ${index} has ${cells.length} columns, expected 4`)
    }
    const { method: _method, paramsHex: _params, ...rest } = options
    messages.push(
      await buildMessage(client, to, amount, {
        ...rest,
        ...(to.startsWith('0x') ? {} : { method }),
        ...(params === 'nil' || params === '' ? {} : { paramsHex: params }),
      }),
    )
  }
  const total = messages.reduce((sum, message) => sum + BigInt(message.Value), 0n)
  const from = await sender(client, options)
  const balance = BigInt(await client.call('WalletBalance', [from]))
  if (total > balance)
    throw new CliError('FAILED', `insufficient funds at sender ${from}: ${formatFil(balance)} < ${formatFil(total)}`)
  const cids: string[] = []
  for (const [index, message] of messages.entries()) {
    const cid = await sendOne(context, client, message, false, force)
    cids.push(cid)
    context.done({ Messages: cids })
    line(context.io, `Sent message ${index}: ${cid}`)
  }
  context.result({ Messages: cids })
}

async function send(
  context: CliContext,
  to: string | undefined,
  amount: string | undefined,
  options: SendOptions,
  force: boolean,
): Promise<void> {
  if (options.csv !== undefined) {
    const { offline, wait, confidence, nonce } = options
    if ([to, amount, offline, wait, confidence, nonce].some((given) => given !== undefined)) {
      const text =
        '--csv sends what is in the file: no recipient, --offline, --wait, --confidence or --nonce goes with it'
      throw new CliError('USAGE', text)
    }
    return sendCsv(context, await context.node(), options.csv, options, force)
  }
  if (to === undefined || amount === undefined) {
    throw new CliError('USAGE', `incorrect number of arguments, got ${to === undefined ? 0 : 1}: send <to> <amount>`)
  }
  const confidence = confidenceOf(options)
  const client = await context.node()
  const message = await buildMessage(client, to, amount, options)
  line(context.io, `Sending message from: ${message.From}`)
  line(context.io, `Sending message to: ${message.To}`)
  line(context.io, `Using Method: ${message.Method}`)
  if (options.offline !== undefined) {
    await writeDraft(context, client, message, options.offline, options.nonce !== undefined)
    return
  }
  const cid = await sendOne(context, client, message, options.nonce !== undefined, force)
  const sent = { From: message.From, To: message.To, Method: String(message.Method), Message: cid }
  line(context.io, cid)
  context.done({ Message: cid })
  if (confidence === undefined) {
    context.result(sent)
    return
  }
  const { Height: height, Receipt: receipt, Message: counted } = await executed(client, cid, confidence)
  context.result({ ...sent, Executed: counted, Height: height, ExitCode: receipt.ExitCode, GasUsed: receipt.GasUsed })
  const instead = counted['/'] === cid ? '' : ` (as ${counted['/']})`
  line(context.io, `executed${instead} in epoch ${height}, gas used ${receipt.GasUsed}, exit code ${receipt.ExitCode}`)
  if (receipt.ExitCode !== 0) throw new CliError('FAILED', `the message failed with exit code ${receipt.ExitCode}`)
}

/** undefined: nothing is waited for. @throws CliError `USAGE` */
function confidenceOf({ wait, confidence }: SendOptions): number | undefined {
  if (wait !== true) {
    if (confidence === undefined) return undefined
    throw new CliError('USAGE', '--confidence says how long --wait waits')
  }
  const epochs = confidence === undefined ? WAIT_CONFIDENCE : wholeNumber(confidence, 'confidence')
  if (epochs < 0) throw new CliError('USAGE', `confidence: ${epochs} is below 0`)
  return epochs
}

/** `send`. @see lotus cli/send.go SendCmd */
export function addSendCommand(program: Command, context: CliContext): void {
  program
    .command('send')
    .description('Send funds between accounts')
    .argument('[to]', 'recipient: a Filecoin address or 0x…')
    .argument('[amount]', 'in FIL, or with a unit: 1.5, 10 attoFIL')
    .option('--from <address>', 'the account to send funds from')
    .option('--from-eth-addr <address>', 'the eth addr to send funds from')
    .option('--gas-premium <attoFIL>', 'gas price to use')
    .option('--gas-feecap <attoFIL>', 'gas fee cap to use')
    .option('--gas-limit <gas>', 'gas limit')
    .option('--nonce <n>', 'the nonce to use')
    .option('--method <n>', 'method to invoke')
    .option('--params-json <json>', 'invocation parameters as JSON')
    .option('--params-hex <hex>', 'invocation parameters in hexadecimal')
    .option('--csv <file>', 'a CSV file of transactions: Recipient,FIL,Method,Params')
    .option('--wait', 'wait until it was executed; fails when the message does')
    .option('--confidence <epochs>', `with --wait: so many epochs ago (default: ${WAIT_CONFIDENCE})`)
    .option('--offline <file>', 'write the message to a file, to be signed elsewhere (petrel sign); nothing is sent')
    .option('--force', 'send although checks fail (deprecated, use --force-send)')
    .action((to: string | undefined, amount: string | undefined, options: SendOptions) =>
      send(
        context,
        to,
        amount,
        options,
        options.force === true || program.opts<{ forceSend?: boolean }>().forceSend === true,
      ),
    )
}
