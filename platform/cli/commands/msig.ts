import type { Command } from 'commander'
import type { Json } from '../../../src/codec/jsonText.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import type { JsonCid } from '../answers.ts'
import { addressArgument, base64ToHex, type CliContext, filArgument, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { tabbed } from '../goFormat.ts'
import { act, type CommonOptions, proposed } from './msigMessages.ts'
import { addSignerCommands } from './msigSigners.ts'
import { addTransactionCommands } from './msigTransactions.ts'

interface MultisigState {
  readonly Signers: readonly string[]
  readonly NumApprovalsThreshold: number
  readonly InitialBalance: string
  readonly StartEpoch: number
  readonly UnlockDuration: number
}

async function inspect(context: CliContext, address: string, options: { vesting?: boolean }): Promise<void> {
  const { io } = context
  const client = await context.node()
  const wallet = addressArgument(address)
  const { Balance: balance } = await client.call('StateGetActor', [wallet, null])
  const { State: json } = await client.call('StateReadState', [wallet, null])
  const state = json as unknown as MultisigState
  const spendable = await client.call('MsigGetAvailableBalance', [wallet, null])
  const pending = (await client.call('MsigGetPending', [wallet, null])) ?? []
  const signers: { ID: string; Address: string }[] = []
  for (const signer of state.Signers) {
    const key = await client.call('StateAccountKey', [signer, null]).catch(() => 'N/A (other actor)')
    signers.push({ ID: signer, Address: key })
  }
  const vesting = {
    InitialBalance: state.InitialBalance,
    StartEpoch: state.StartEpoch,
    UnlockDuration: state.UnlockDuration,
  }
  context.result({
    Balance: balance,
    Spendable: spendable,
    ...vesting,
    Threshold: state.NumApprovalsThreshold,
    Signers: signers,
    Transactions: pending,
  })
  line(io, `Balance: ${formatFil(BigInt(balance))}`)
  line(io, `Spendable: ${formatFil(BigInt(spendable))}`)
  if (options.vesting === true) {
    line(io, `InitialBalance: ${formatFil(BigInt(vesting.InitialBalance))}`)
    line(io, `StartEpoch: ${vesting.StartEpoch}`)
    line(io, `UnlockDuration: ${vesting.UnlockDuration}`)
  }
  line(io, `Threshold: ${state.NumApprovalsThreshold} / ${signers.length}`)
  line(io, 'Signers:')
  io.out(tabbed([['ID', 'Address'], ...signers.map((signer) => [signer.ID, signer.Address])]))
  line(io, `Transactions:  ${pending.length}`)
  if (pending.length === 0) return
  const rows = pending.map((transaction) => {
    const approvals = transaction.Approved?.length ?? 0
    const { ID: id, To: to, Value: value, Method: method, Params: params } = transaction
    return [String(id), 'pending', String(approvals), to, formatFil(BigInt(value)), String(method), base64ToHex(params)]
  })
  io.out(tabbed([['ID', 'State', 'Approvals', 'To', 'Value', 'Method', 'Params'], ...rows]))
}

async function create(
  context: CliContext,
  confidence: () => number,
  signers: readonly string[],
  options: CommonOptions & { required?: string; value: string; duration: string },
): Promise<void> {
  const required = options.required === undefined ? signers.length : wholeNumber(options.required, 'required')
  if (required < 1 || required > signers.length) {
    throw new CliError('USAGE', `required: ${required} of ${signers.length} signers`)
  }
  const addresses = signers.map((signer) => addressArgument(signer, 'signer'))
  const { found } = await act(context, confidence, options, 'create', (from) => [
    'MsigCreate',
    [required, addresses, wholeNumber(options.duration, 'duration'), filArgument(options.value), from, '0'],
  ])
  line(context.io, `Created new multisig:  ${String(found.IDAddress)} ${String(found.RobustAddress)}`)
}

/** Methods of the multisig actor that it calls on itself. */
const CHANGE_THRESHOLD = 8

const LOCK_BALANCE = 9

/** Proposes that the multisig calls itself, with parameters that the node encodes. */
async function proposeSelf(
  context: CliContext,
  confidence: () => number,
  address: string,
  method: number,
  params: Json,
  options: CommonOptions,
): Promise<void> {
  const wallet = addressArgument(address)
  const client = await context.node()
  const { Code: code } = await client.call('StateGetActor', [wallet, null])
  const encoded = await client.call('StateEncodeParams', [code, method, params], 'v1')
  const { found } = await act(context, confidence, options, 'proposal', (from) => [
    'MsigPropose',
    [wallet, wallet, '0', from, method, encoded],
  ])
  proposed(context, found)
}

/** `msig …`: the whole cycle of a multisig. @see lotus cli/multisig.go */
export function addMsigCommands(program: Command, context: CliContext): void {
  const msig = program
    .command('msig')
    .description('Interact with a multisig wallet')
    .option('--confidence <epochs>', 'number of epochs to wait for before a message counts as executed', '5')
  const confidence = (): number => {
    const epochs = wholeNumber(msig.opts<{ confidence: string }>().confidence, 'confidence')
    if (epochs < 0) throw new CliError('USAGE', `confidence: ${epochs} is below 0`)
    return epochs
  }
  msig
    .command('create')
    .description('Create a new multisig wallet')
    .argument('<signers...>')
    .option('--required <n>', 'number of required approvals (default: all)')
    .option('--value <FIL>', 'initial funds', '0')
    .option('--duration <epochs>', 'length of the period over which funds unlock', '0')
    .option('--from <address>', 'account to send the create message from')
    .action((signers: string[], options: CommonOptions & { required?: string; value: string; duration: string }) =>
      create(context, confidence, signers, options),
    )
  msig
    .command('inspect')
    .description('Inspect a multisig wallet')
    .argument('<address>')
    .option('--vesting', 'Include vesting details')
    .action((address: string, options: { vesting?: boolean }) => inspect(context, address, options))
  addTransactionCommands(msig, context, confidence)
  addSignerCommands(msig, context, confidence)
  msig
    .command('propose-threshold')
    .description('Propose to set a different signing threshold')
    .argument('<msig>')
    .argument('<threshold>')
    .option('--from <address>', 'account to send the proposal from')
    .action((wallet: string, threshold: string, options: CommonOptions) =>
      proposeSelf(
        context,
        confidence,
        wallet,
        CHANGE_THRESHOLD,
        { NewThreshold: wholeNumber(threshold, 'threshold') },
        options,
      ),
    )
  msig
    .command('lock-propose')
    .description('Propose to lock up some balance')
    .argument('<msig>')
    .argument('<startEpoch>')
    .argument('<unlockDuration>')
    .argument('<amount>', 'in FIL')
    .option('--from <address>', 'account to send the proposal from')
    .action((wallet: string, start: string, duration: string, amount: string, options: CommonOptions) =>
      proposeSelf(
        context,
        confidence,
        wallet,
        LOCK_BALANCE,
        {
          StartEpoch: wholeNumber(start, 'start'),
          UnlockDuration: wholeNumber(duration, 'duration'),
          Amount: filArgument(amount),
        },
        options,
      ),
    )
  msig
    .command('vested')
    .description('Gets the amount vested in an msig between two epochs')
    .argument('<msig>')
    .option('--start-epoch <n>', 'start epoch to measure vesting from', '0')
    .option('--end-epoch <n>', 'end epoch to stop measuring vesting at (default: the head)')
    .action(async (wallet: string, options: { startEpoch: string; endEpoch?: string }) => {
      const client = await context.node()
      const at = async (epoch: string | undefined): Promise<readonly JsonCid[] | null> =>
        epoch === undefined
          ? null
          : (await client.call('ChainGetTipSetByHeight', [wholeNumber(epoch, 'epoch'), null])).Cids
      const amount = await client.call('MsigGetVested', [
        addressArgument(wallet),
        await at(options.startEpoch),
        await at(options.endEpoch),
      ])
      context.result(amount)
      line(
        context.io,
        `Vested: ${formatFil(BigInt(amount))} between ${options.startEpoch} and ${options.endEpoch ?? 'the head'}`,
      )
    })
}
