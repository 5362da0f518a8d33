import type { Command } from 'commander'
import { line } from '../../server/programIo.ts'
import { addressArgument, type CliContext, filArgument, hexToBase64, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import { act, type CommonOptions, proposed } from './msigMessages.ts'

/** `[<destination> <value> [<method> <params>]]`: what a transaction is told apart by. */
function described(
  rest: readonly string[],
): readonly [to: string, value: string, method: number, params: string] | undefined {
  const [to, value, method, params] = rest
  if (to === undefined) return undefined
  if (value === undefined)
    throw new CliError('USAGE', 'usage: <msig> <txId> [<proposer> <destination> <value> [<method> <params>]]')
  return [
    addressArgument(to, 'destination'),
    filArgument(value),
    method === undefined ? 0 : wholeNumber(method, 'method'),
    params === undefined ? '' : hexToBase64(params, 'params'),
  ]
}

/** `msig propose`, `approve`, `cancel`. @see lotus cli/multisig.go */
export function addTransactionCommands(msig: Command, context: CliContext, confidence: () => number): void {
  msig
    .command('propose')
    .description('Propose a multisig transaction')
    .argument('<msig>')
    .argument('<destination>')
    .argument('<value>', 'in FIL')
    .argument('[method]', 'number', '0')
    .argument('[params]', 'hexadecimal', '')
    .option('--from <address>', 'account to send the propose message from')
    .action(
      async (wallet: string, to: string, value: string, method: string, params: string, options: CommonOptions) => {
        const { found } = await act(context, confidence, options, 'propose', (from) => [
          'MsigPropose',
          [
            addressArgument(wallet),
            addressArgument(to, 'destination'),
            filArgument(value),
            from,
            wholeNumber(method, 'method'),
            hexToBase64(params, 'params'),
          ],
        ])
        proposed(context, found)
      },
    )
  msig
    .command('approve')
    .description('Approve a multisig transaction; told what it is, the node checks that')
    .argument('<msig>')
    .argument('<txId>')
    .argument('[proposer]')
    .argument('[what...]', '<destination> <value> [<method> <params>]')
    .option('--from <address>', 'account to send the approve message from')
    .action(
      async (wallet: string, id: string, proposer: string | undefined, what: string[], options: CommonOptions) => {
        const { found } = await act(context, confidence, options, 'approval', (from) => {
          const base = [addressArgument(wallet), wholeNumber(id, 'txId')] as const
          if (proposer === undefined) return ['MsigApprove', [...base, from]]
          const [to, value, method, params] = described(what) ?? [null, null, null, null]
          return [
            'MsigApproveTxnHash',
            [...base, addressArgument(proposer, 'proposer'), to, value, from, method, params],
          ]
        })
        if (found.Applied === true) line(context.io, `Transaction was executed, exit code ${String(found.Code)}`)
      },
    )
  msig
    .command('cancel')
    .description('Cancel a multisig transaction')
    .argument('<msig>')
    .argument('<txId>')
    .argument('[what...]', '<destination> <value> [<method> <params>]')
    .option('--from <address>', 'account to send the cancel message from')
    .action(async (wallet: string, id: string, what: string[], options: CommonOptions) => {
      await act(context, confidence, options, 'cancel', (from) => {
        const base = [addressArgument(wallet), wholeNumber(id, 'txId')] as const
        const about = described(what)
        if (about === undefined) return ['MsigCancel', [...base, from]]
        const [to, value, method, params] = about
        return ['MsigCancelTxnHash', [...base, to, value, from, method, params]]
      })
    })
}
