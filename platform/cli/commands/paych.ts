import type { Command } from 'commander'
import { decode, encode } from '../../../src/codec/description.ts'
import { signedVoucher } from '../../../src/state/params/paych.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import type { JsonCid } from '../answers.ts'
import { addressArgument, type CliContext, filArgument, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { named, sent, succeeded } from '../messages.ts'
import type { ApiChannelAvailableFunds, PaychSignedVoucher } from '../nodeMethods.ts'
import type { RpcClient } from '../rpcClient.ts'

/** Epochs on top of a message until it counts. @see lotus build/buildconstants MessageConfidence */
const CONFIDENCE = 5
/** The letter does not matter: a node takes both. */
const LETTER = { addressPrefix: 'f' } as const

const fil = (amount: string): string => formatFil(BigInt(amount))

/** A voucher as text: its CBOR in base64url, as Lotus passes it on. */
function voucherText(voucher: PaychSignedVoucher): string {
  return Buffer.from(encode(signedVoucher, signedVoucher.fromJson(voucher, LETTER))).toString('base64url')
}

/** @throws CliError `USAGE` */
function voucherArgument(text: string): PaychSignedVoucher {
  try {
    const voucher = decode(signedVoucher, new Uint8Array(Buffer.from(text, 'base64url')))
    return signedVoucher.toJson(voucher, LETTER) as unknown as PaychSignedVoucher
  } catch (cause) {
    throw new CliError('USAGE', `voucher: ${(cause as Error).message}`, {}, { cause })
  }
}

async function addFunds(
  context: CliContext,
  from: string,
  to: string,
  amount: string,
  options: { reserve?: boolean },
): Promise<void> {
  const client = await context.node()
  const asked = [addressArgument(from, 'fromAddress'), addressArgument(to, 'toAddress'), filArgument(amount)] as const
  const info =
    options.reserve === true
      ? await client.call('PaychGet', [...asked, { OffChain: false }], 'v1')
      : await client.call('PaychFund', asked, 'v1')
  // There was enough, so nothing was sent.
  let channel = info.Channel
  if (info.WaitSentinel !== null) {
    named(context, info.WaitSentinel['/'])
    line(context.io, 'waiting for confirmation..')
    channel = await client.call('PaychGetWaitReady', [info.WaitSentinel])
  }
  context.result({ Channel: channel, Message: info.WaitSentinel?.['/'] ?? null })
  line(context.io, channel)
}

function fundsText(funds: ApiChannelAvailableFunds): string {
  const { Channel: channel, PendingWaitSentinel: sentinel } = funds
  const sentinelText = sentinel?.['/'] ?? ''
  if (channel === null) {
    const ends = (first: string, second: string): string =>
      `  From: ${first}${funds.From}\n  To: ${second}${funds.To}\n`
    if (sentinel === null) return `Channel does not exist\n${ends('', '  ')}`
    const pending = `  Pending Amt:   ${fil(funds.PendingAmt)}\n  Wait Sentinel: ${sentinelText}\n`
    return `Creating channel\n${ends('         ', '           ')}${pending}`
  }
  const rows: [string, string][] = [
    ['Channel', channel],
    ['From', funds.From],
    ['To', funds.To],
    ['Confirmed Amt', fil(funds.ConfirmedAmt)],
    ['Available Amt', fil(funds.NonReservedAmt)],
    ['Voucher Redeemed Amt', fil(funds.VoucherReedeemedAmt)],
    ['Pending Amt', fil(funds.PendingAmt)],
    ['Pending Available Amt', fil(funds.PendingAvailableAmt)],
    ['Queued Amt', fil(funds.QueuedAmt)],
    ...(sentinel === null ? [] : [['Add Funds Wait Sentinel', sentinelText] as [string, string]]),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const heading = sentinel === null ? 'Channel exists\n' : 'Adding Funds to channel\n'
  return heading + rows.map(([name, value]) => `  ${`${name}: `.padEnd(width + 2)}${value}\n`).join('')
}

function showFunds(context: CliContext, funds: ApiChannelAvailableFunds): void {
  context.result(funds)
  context.io.out(fundsText(funds))
}

function showVouchers(
  context: CliContext,
  vouchers: readonly PaychSignedVoucher[],
  isExport: boolean | undefined,
): void {
  const sorted = [...vouchers].sort((a, b) => a.Lane - b.Lane || a.Nonce - b.Nonce)
  context.result(sorted.map((voucher) => ({ Voucher: voucher, Encoded: voucherText(voucher) })))
  for (const voucher of sorted) {
    const text = `Lane ${voucher.Lane}, Nonce ${voucher.Nonce}: ${fil(voucher.Amount)}`
    line(context.io, isExport === true ? `${text}; ${voucherText(voucher)}` : text)
  }
}

/** Of each lane the one worth most that the chain would take. @see lotus paychmgr/util.go BestSpendableByLane */
async function bestSpendable(context: CliContext, text: string, options: { export?: boolean }): Promise<void> {
  const client = await context.node()
  const channel = addressArgument(text, 'channelAddress')
  const best = new Map<number, PaychSignedVoucher>()
  for (const voucher of await client.call('PaychVoucherList', [channel])) {
    if (!(await client.call('PaychVoucherCheckSpendable', [channel, voucher, null, null]))) continue
    const known = best.get(voucher.Lane)
    if (known === undefined || BigInt(voucher.Amount) > BigInt(known.Amount)) best.set(voucher.Lane, voucher)
  }
  showVouchers(context, [...best.values()], options.export)
}

/** Sends one message to a channel, and waits. */
async function act(context: CliContext, send: (client: RpcClient) => Promise<JsonCid>, what: string): Promise<void> {
  const client = await context.node()
  const { '/': cid } = await send(client)
  named(context, cid, what)
  sent(context, cid, await succeeded(client, cid, CONFIDENCE, what))
}

function addVoucherCommands(paych: Command, context: CliContext): void {
  const { io, node, result } = context
  const voucher = paych.command('voucher').description('Interact with payment channel vouchers')
  voucher
    .command('create')
    .description('Create a signed payment channel voucher')
    .argument('<channelAddress>')
    .argument('<amount>', 'in FIL: all that the lane has paid so far')
    .option('--lane <n>', 'specify payment channel lane to use', '0')
    .action(async (channel: string, amount: string, options: { lane: string }) => {
      const params = [
        addressArgument(channel, 'channelAddress'),
        filArgument(amount),
        wholeNumber(options.lane, 'lane'),
      ] as const
      const made = await (await node()).call('PaychVoucherCreate', params)
      if (made.Voucher === null) {
        const text = `could not create voucher: insufficient funds in channel, shortfall: ${made.Shortfall}`
        throw new CliError('FAILED', text)
      }
      const text = voucherText(made.Voucher)
      result({ Voucher: made.Voucher, Encoded: text })
      line(io, text)
    })
  voucher
    .command('check')
    .description('Check validity of payment channel voucher')
    .argument('<channelAddress>')
    .argument('<voucher>')
    .action(async (channel: string, text: string) => {
      const params = [addressArgument(channel, 'channelAddress'), voucherArgument(text)] as const
      await (await node()).call('PaychVoucherCheckValid', params)
      result({ Valid: true })
      line(io, 'voucher is valid')
    })
  voucher
    .command('add')
    .description('Add payment channel voucher to local datastore')
    .argument('<channelAddress>')
    .argument('<voucher>')
    .action(async (channel: string, text: string) => {
      const params = [addressArgument(channel, 'channelAddress'), voucherArgument(text), null, '0'] as const
      result({ Added: await (await node()).call('PaychVoucherAdd', params) })
    })
  voucher
    .command('list')
    .description('List stored vouchers for a given payment channel')
    .argument('<channelAddress>')
    .option('--export', 'Print voucher as serialized string')
    .action(async (channel: string, options: { export?: boolean }) => {
      const params = [addressArgument(channel, 'channelAddress')] as const
      showVouchers(context, await (await node()).call('PaychVoucherList', params), options.export)
    })
  voucher
    .command('best-spendable')
    .description('Print vouchers with highest value that is currently spendable for each lane')
    .argument('<channelAddress>')
    .option('--export', 'Print voucher as serialized string')
    .action((channel: string, options: { export?: boolean }) => bestSpendable(context, channel, options))
  voucher
    .command('submit')
    .description('Submit voucher to chain to update payment channel state')
    .argument('<channelAddress>')
    .argument('<voucher>')
    .action(async (channel: string, text: string) => {
      const params = [addressArgument(channel, 'channelAddress'), voucherArgument(text), null, null] as const
      await act(context, (client) => client.call('PaychVoucherSubmit', params), 'message execution')
      line(io, 'channel updated successfully')
    })
}

/** `paych …`: payment channels and their vouchers. @see lotus cli/paych.go */
export function addPaychCommands(program: Command, context: CliContext): void {
  const { io, node, result } = context
  const paych = program.command('paych').description('Manage payment channels')
  paych
    .command('add-funds')
    .description("Add funds to the channel between two addresses; creates the channel if it doesn't already exist")
    .argument('<fromAddress>')
    .argument('<toAddress>')
    .argument('<amount>', 'in FIL')
    .option('--reserve', 'mark funds as reserved')
    .action((from: string, to: string, amount: string, options: { reserve?: boolean }) =>
      addFunds(context, from, to, amount, options),
    )
  paych
    .command('list')
    .description('List all locally registered payment channels')
    .action(async () => {
      const channels = await (await node()).call('PaychList')
      result(channels)
      for (const channel of channels) line(io, channel)
    })
  addVoucherCommands(paych, context)
  paych
    .command('settle')
    .description('Settle a payment channel')
    .argument('<channelAddress>')
    .action(async (text: string) => {
      const channel = addressArgument(text, 'channelAddress')
      await act(context, (client) => client.call('PaychSettle', [channel]), 'settle message execution')
      line(io, `Settled channel ${channel}`)
    })
  paych
    .command('status')
    .description('Show the status of an outbound payment channel')
    .argument('<channelAddress>')
    .action(async (text: string) =>
      showFunds(context, await (await node()).call('PaychAvailableFunds', [addressArgument(text, 'channelAddress')])),
    )
  paych
    .command('status-by-from-to')
    .description('Show the status of an active outbound payment channel by from/to addresses')
    .argument('<fromAddress>')
    .argument('<toAddress>')
    .action(async (from: string, to: string) => {
      const pair = [addressArgument(from, 'fromAddress'), addressArgument(to, 'toAddress')] as const
      showFunds(context, await (await node()).call('PaychAvailableFundsByFromTo', pair))
    })
  paych
    .command('collect')
    .description('Collect funds for a payment channel')
    .argument('<channelAddress>')
    .action(async (text: string) => {
      const channel = addressArgument(text, 'channelAddress')
      await act(context, (client) => client.call('PaychCollect', [channel]), 'collect message execution')
      line(io, `Collected funds for channel ${channel}`)
    })
}
