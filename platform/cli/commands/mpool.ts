import type { Command } from 'commander'
import { type Json, stringifyJson } from '../../../src/codec/jsonText.ts'
import { formatFil, parseFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import type { JsonActor, JsonBlock, JsonMessage, JsonTipset } from '../answers.ts'
import { addressArgument, type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import type { TypesMpoolConfig } from '../nodeMethods.ts'
import type { Given, RpcClient } from '../rpcClient.ts'
import { pushSigned } from './offline.ts'

/** Lotus' default ceiling for the fee of one message, attoFIL (0.07 FIL). */
const DEFAULT_MAX_FEE = 70_000_000_000_000_000n

/** Units of gas in a block. @see lotus build/buildconstants BlockGasLimit */
const BLOCK_GAS_LIMIT = 10_000_000_000

interface FilterOptions {
  readonly from?: string
  readonly to?: string
  readonly method?: string
}

/** Addresses are compared without their network letter. */
const sameAddress = (a: string, b: string): boolean => a.slice(1) === b.slice(1)

function matches(message: JsonMessage, filter: FilterOptions): boolean {
  if (filter.to !== undefined && !sameAddress(message.To, addressArgument(filter.to, 'to'))) return false
  if (filter.from !== undefined && !sameAddress(message.From, addressArgument(filter.from, 'from'))) return false
  return filter.method === undefined || BigInt(message.Method) === BigInt(wholeNumber(filter.method, 'method'))
}

async function localAddresses(client: RpcClient, local: boolean | undefined): Promise<Set<string> | undefined> {
  return local === true ? new Set(await client.call('WalletList')) : undefined
}

async function pending(
  context: CliContext,
  options: FilterOptions & { local?: boolean; cids?: boolean },
): Promise<void> {
  const { io, node } = context
  const client = await node()
  const local = await localAddresses(client, options.local)
  const all = await client.call('MpoolPending', [null])
  const shown = all.filter(
    ({ Message: message }) => (local === undefined || local.has(message.From)) && matches(message, options),
  )
  context.result(options.cids === true ? shown.map((message) => message.CID['/']) : shown)
  for (const signed of shown) {
    line(io, options.cids === true ? signed.CID['/'] : stringifyJson(signed, 2))
  }
}

async function find(context: CliContext, options: FilterOptions): Promise<void> {
  const { io } = context
  const all = await (await context.node()).call('MpoolPending', [null])
  const found = all.filter((signed) => matches(signed.Message, options))
  context.result(found)
  line(io, found.length === 0 ? 'null' : stringifyJson(found, 2))
}

interface Stat {
  past: number
  cur: number
  future: number
  belowCurr: number
  belowPast: number
  gasLimit: bigint
}

const noStat = (): Stat => ({ past: 0, cur: 0, future: 0, belowCurr: 0, belowPast: 0, gasLimit: 0n })

function statLine(name: string, stat: Stat, lookback: number): string {
  return `${name}: Nonce past: ${stat.past}, cur: ${stat.cur}, future: ${stat.future}; FeeCap cur: ${stat.belowCurr}, min-${lookback}: ${stat.belowPast}, gasLimit: ${stat.gasLimit}`
}

async function baseFees(
  client: RpcClient,
  lookback: number,
): Promise<{ head: JsonTipset; current: bigint; least: bigint }> {
  const head = await client.call('ChainHead')
  const current = BigInt((head.Blocks[0] as JsonBlock).ParentBaseFee)
  let least = current
  let tipset = head
  // A young chain has fewer tipsets than the lookback: genesis ends the walk.
  for (let i = 0; i < lookback && tipset.Height > 0; i++) {
    tipset = await client.call('ChainGetTipSet', [(tipset.Blocks[0] as JsonBlock).Parents])
    const fee = BigInt((tipset.Blocks[0] as JsonBlock).ParentBaseFee)
    if (fee < least) least = fee
  }
  return { head, current, least }
}

function statJson(stat: Stat): { [name: string]: Json } {
  return {
    Past: stat.past,
    Current: stat.cur,
    Future: stat.future,
    FeeCapBelowCurrent: stat.belowCurr,
    FeeCapBelowLeast: stat.belowPast,
    GasLimit: Number(stat.gasLimit),
  }
}

async function stat(context: CliContext, options: { local?: boolean; basefeeLookback: string }): Promise<void> {
  const { io } = context
  const senders: { [address: string]: Json } = {}
  const client = await context.node()
  const lookback = wholeNumber(options.basefeeLookback, 'basefee-lookback')
  const fees = await baseFees(client, lookback)
  const local = await localAddresses(client, options.local)
  const bySender = new Map<string, JsonMessage[]>()
  for (const { Message: message } of await client.call('MpoolPending', [null])) {
    if (local !== undefined && !local.has(message.From)) continue
    const messages = bySender.get(message.From)
    if (messages === undefined) bySender.set(message.From, [message])
    else messages.push(message)
  }
  const total = noStat()
  for (const address of [...bySender.keys()].sort()) {
    const messages = bySender.get(address) as JsonMessage[]
    let actor: JsonActor
    try {
      actor = await client.call('StateGetActor', [address, fees.head.Cids])
    } catch (error) {
      line(io, `${address}, err: ${(error as Error).message}`)
      continue
    }
    const nonces = new Set(messages.map((message) => BigInt(message.Nonce)))
    let next = BigInt(actor.Nonce)
    while (nonces.has(next)) next++
    const sum = noStat()
    for (const message of messages) {
      const nonce = BigInt(message.Nonce)
      if (nonce < BigInt(actor.Nonce)) sum.past++
      else if (nonce > next) sum.future++
      else sum.cur++
      if (BigInt(message.GasFeeCap) < fees.current) sum.belowCurr++
      if (BigInt(message.GasFeeCap) < fees.least) sum.belowPast++
      sum.gasLimit += BigInt(message.GasLimit)
    }
    line(io, statLine(address, sum, lookback))
    senders[address] = statJson(sum)
    total.past += sum.past
    total.cur += sum.cur
    total.future += sum.future
    total.belowCurr += sum.belowCurr
    total.belowPast += sum.belowPast
    total.gasLimit += sum.gasLimit
  }
  context.result({ Senders: senders, Total: statJson(total) })
  line(io, '-----')
  line(io, statLine('total', total, lookback))
}

interface ReplaceOptions {
  readonly gasFeecap?: string
  readonly gasPremium?: string
  readonly gasLimit?: string
  readonly auto?: boolean
  readonly feeLimit?: string
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

async function repriced(client: RpcClient, message: JsonMessage, feeLimit: string | undefined): Promise<JsonMessage> {
  const config = await client.call('MpoolGetConfig')
  // The ratio prints as units.hundredths; floor(old * ratio) + 1 is the least premium that replaces.
  const percent = BigInt(Math.round(config.ReplaceByFeeRatio * 100))
  const least = (BigInt(message.GasPremium) * percent) / 100n + 1n
  const spec = feeLimit === undefined ? null : { MaxFee: parseFil(feeLimit).toString() }
  const estimate = await client.call('GasEstimateMessageGas', [
    { ...message, GasFeeCap: '0', GasPremium: '0' },
    spec,
    null,
  ])
  let premium = larger(BigInt(estimate.GasPremium), least)
  let feeCap = larger(BigInt(estimate.GasFeeCap), premium)
  const gasLimit = BigInt(message.GasLimit)
  const maxFee = feeLimit === undefined ? DEFAULT_MAX_FEE : parseFil(feeLimit)
  if (feeCap * gasLimit > maxFee) feeCap = maxFee / gasLimit
  premium = smaller(premium, feeCap)
  return { ...message, GasFeeCap: feeCap.toString(), GasPremium: premium.toString() }
}

/** Messages by what they pay a unit of gas, the best first. @see lotus cli/mpool.go MpoolGasPerfCmd */
async function gasPerformance(context: CliContext, options: { all?: boolean }): Promise<void> {
  const { io } = context
  const client = await context.node()
  const local = await localAddresses(client, options.all !== true)
  const head = await client.call('ChainHead')
  const baseFee = BigInt((head.Blocks[0] as JsonBlock).ParentBaseFee)
  const found: { From: string; Nonce: number; GasReward: string; GasPerformance: number }[] = []
  for (const { Message: message } of await client.call('MpoolPending', [null])) {
    if (local !== undefined && !local.has(message.From)) continue
    const spare = BigInt(message.GasFeeCap) - baseFee
    const premium = spare < BigInt(message.GasPremium) ? spare : BigInt(message.GasPremium)
    const limit = BigInt(message.GasLimit)
    const reward = premium * limit
    found.push({
      From: message.From,
      Nonce: Number(message.Nonce),
      GasReward: reward.toString(),
      GasPerformance: limit === 0n ? 0 : (Number(reward) * BLOCK_GAS_LIMIT) / Number(limit),
    })
  }
  context.result(found)
  for (const selected of found) {
    line(
      io,
      `${selected.From}\t${selected.Nonce}\t${formatFil(BigInt(selected.GasReward))}\t${selected.GasPerformance}`,
    )
  }
}

const UPDATES = ['add', 'remove']

async function subscribe(context: CliContext): Promise<void> {
  const client = await context.node()
  const put = context.stream()
  await client.listen('MpoolSub', (update) => {
    put(update)
    line(context.io, `${UPDATES[update.Type] ?? String(update.Type)} ${stringifyJson(update.Message, 2)}`)
  })
}

async function why({ io, node, result }: CliContext, cid: string): Promise<void> {
  const told = await (await node()).call('MpoolExplain', [{ '/': cid }])
  result(told)
  line(io, told.Text)
  for (const { Command: command } of told.Reasons) line(io, `repair: ${command}`)
}

async function clear({ io, node }: CliContext, options: { local?: boolean; reallyDoIt?: boolean }): Promise<void> {
  if (options.reallyDoIt !== true) {
    throw new CliError(
      'USAGE',
      '--really-do-it must be specified for this action to have an effect; you have been warned',
    )
  }
  await (await node()).call('MpoolClear', [options.local === true])
  line(io, 'the message pool is cleared')
}

async function replace(
  { io, node, result }: CliContext,
  args: readonly string[],
  options: ReplaceOptions,
): Promise<void> {
  const client = await node()
  let from: string
  let nonce: bigint
  const [first, second] = args
  if (first === undefined || args.length > 2)
    throw new CliError(
      'USAGE',
      `incorrect number of arguments, got ${args.length}: mpool replace <from> <nonce> | <message-cid>`,
    )
  if (second === undefined) {
    const message = await client.call('ChainGetMessage', [{ '/': first }])
    from = message.From
    nonce = BigInt(message.Nonce)
  } else {
    from = addressArgument(first, 'from')
    nonce = BigInt(wholeNumber(second, 'nonce'))
  }
  const all = await client.call('MpoolPending', [null])
  const found = all.find(({ Message: message }) => sameAddress(message.From, from) && BigInt(message.Nonce) === nonce)
  if (found === undefined) throw new CliError('FAILED', `no pending message found from ${from} with nonce ${nonce}`)
  let message = found.Message
  if (options.auto === true) {
    message = await repriced(client, message, options.feeLimit)
  } else {
    if (options.gasPremium === undefined)
      throw new CliError('USAGE', 'parsing gas-premium: give --gas-premium and --gas-feecap, or --auto')
    if (options.gasFeecap === undefined)
      throw new CliError('USAGE', 'parsing gas-feecap: give --gas-premium and --gas-feecap, or --auto')
    message = {
      ...message,
      GasPremium: options.gasPremium,
      GasFeeCap: options.gasFeecap,
      GasLimit: options.gasLimit === undefined ? message.GasLimit : wholeNumber(options.gasLimit, 'gas-limit'),
    }
  }
  const signed = await client.call('WalletSignMessage', [message.From, message])
  await client.call('MpoolPush', [signed])
  result({ Message: signed.CID['/'] })
  line(io, `new message cid:  ${signed.CID['/']}`)
}

/** `mpool pending|sub|push|why|replace|find|stat|gas-perf|config|clear`. @see lotus cli/mpool.go */
export function addMpoolCommands(program: Command, context: CliContext): void {
  const { io, node } = context
  const mpool = program.command('mpool').description('Manage message pool')
  mpool
    .command('pending')
    .description('Get pending messages')
    .option('--local', 'print pending messages for addresses in local wallet only')
    .option('--cids', 'only print cids of messages in output')
    .option('--to <address>', 'return messages to a given address')
    .option('--from <address>', 'return messages from a given address')
    .action((options: FilterOptions & { local?: boolean; cids?: boolean }) => pending(context, options))
  mpool
    .command('find')
    .description('find a message in the mempool')
    .option('--from <address>', "search for messages with given 'from' address")
    .option('--to <address>', "search for messages with given 'to' address")
    .option('--method <n>', 'search for messages with given method')
    .action((options: FilterOptions) => find(context, options))
  mpool
    .command('stat')
    .description('print mempool stats')
    .option('--local', 'print stats for addresses in local wallet only')
    .option('--basefee-lookback <n>', 'number of blocks to look back for minimum basefee', '60')
    .action((options: { local?: boolean; basefeeLookback: string }) => stat(context, options))
  mpool
    .command('replace')
    .description('replace a message in the mempool')
    .argument('<args...>', '<from> <nonce>, or <message-cid>')
    .option('--gas-feecap <attoFIL>', 'gas feecap for new message (burn and pay to miner, attoFIL/GasUnit)')
    .option('--gas-premium <attoFIL>', 'gas price for new message (pay to miner, attoFIL/GasUnit)')
    .option('--gas-limit <gas>', 'gas limit for new message (GasUnit)')
    .option('--auto', 'automatically reprice the specified message')
    .option('--fee-limit <FIL>', 'Spend up to X FIL for this message; for auto mode')
    .action((args: string[], options: ReplaceOptions) => replace(context, args, options))
  mpool
    .command('sub')
    .description('Subscribe to mpool changes')
    .action(() => subscribe(context))
  mpool
    .command('push')
    .description('Send a message that was signed elsewhere (petrel sign)')
    .argument('<file>')
    .action((path: string) => pushSigned(context, path))
  mpool
    .command('why')
    .description('Say why a message is not in a block yet, and the command that repairs it')
    .argument('<message-cid>')
    .action((cid: string) => why(context, cid))
  mpool
    .command('gas-perf')
    .description('Check gas performance of messages in mempool')
    .option('--all', 'print gas performance for all mempool messages (default only prints for local)')
    .action((options: { all?: boolean }) => gasPerformance(context, options))
  mpool
    .command('clear')
    .description('Clear all pending messages from the mpool (USE WITH CARE)')
    .option('--local', 'also clear local messages')
    .option('--really-do-it', 'must be specified for the action to take effect')
    .action((options: { local?: boolean; reallyDoIt?: boolean }) => clear(context, options))
  mpool
    .command('config')
    .description('get or set current mpool configuration')
    .argument('[json]')
    .action(async (json: string | undefined) => {
      const client = await node()
      if (json === undefined) {
        const config = await client.call('MpoolGetConfig')
        context.result(config)
        line(io, stringifyJson(config))
      } else await client.call('MpoolSetConfig', [JSON.parse(json) as Given<TypesMpoolConfig>])
    })
}
