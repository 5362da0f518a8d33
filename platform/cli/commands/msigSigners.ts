import type { Command } from 'commander'
import { addressArgument, type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import type { Drafting } from '../messages.ts'
import { act, type CommonOptions, proposed } from './msigMessages.ts'

/** `msig add-…`, `swap-…`, `propose-remove`: who signs for a multisig. @see lotus cli/multisig.go */
export function addSignerCommands(msig: Command, context: CliContext, confidence: () => number): void {
  const propose = async (options: CommonOptions, what: string, draft: (from: string) => Drafting): Promise<void> => {
    proposed(context, (await act(context, confidence, options, what, draft)).found)
  }
  const from = ['--from <address>', 'account to send the message from'] as const
  msig
    .command('add-propose')
    .description('Propose to add a signer')
    .argument('<msig>')
    .argument('<signer>')
    .option('--increase-threshold', 'whether the number of required signers should be increased')
    .option(...from)
    .action((wallet: string, signer: string, options: CommonOptions & { increaseThreshold?: boolean }) =>
      propose(options, 'add proposal', (sender) => [
        'MsigAddPropose',
        [addressArgument(wallet), sender, addressArgument(signer, 'signer'), options.increaseThreshold === true],
      ]),
    )
  msig
    .command('add-approve')
    .description('Approve a message to add a signer')
    .argument('<msig>')
    .argument('<proposer>')
    .argument('<txId>')
    .argument('<newAddress>')
    .argument('<increaseThreshold>', 'true or false')
    .option(...from)
    .action(
      async (wallet: string, proposer: string, id: string, signer: string, inc: string, options: CommonOptions) => {
        await act(context, confidence, options, 'add approval', (sender) => [
          'MsigAddApprove',
          [
            addressArgument(wallet),
            sender,
            wholeNumber(id, 'txId'),
            addressArgument(proposer),
            addressArgument(signer),
            truth(inc, 'increaseThreshold'),
          ],
        ])
      },
    )
  msig
    .command('add-cancel')
    .description('Cancel a message to add a signer')
    .argument('<msig>')
    .argument('<txId>')
    .argument('<newAddress>')
    .argument('<increaseThreshold>', 'true or false')
    .option(...from)
    .action(async (wallet: string, id: string, signer: string, inc: string, options: CommonOptions) => {
      await act(context, confidence, options, 'add cancellation', (sender) => [
        'MsigAddCancel',
        [
          addressArgument(wallet),
          sender,
          wholeNumber(id, 'txId'),
          addressArgument(signer),
          truth(inc, 'increaseThreshold'),
        ],
      ])
    })
  msig
    .command('swap-propose')
    .description('Propose to swap signers')
    .argument('<msig>')
    .argument('<oldAddress>')
    .argument('<newAddress>')
    .option(...from)
    .action((wallet: string, old: string, signer: string, options: CommonOptions) =>
      propose(options, 'swap proposal', (sender) => [
        'MsigSwapPropose',
        [addressArgument(wallet), sender, addressArgument(old), addressArgument(signer)],
      ]),
    )
  msig
    .command('swap-approve')
    .description('Approve a message to swap signers')
    .argument('<msig>')
    .argument('<proposer>')
    .argument('<txId>')
    .argument('<oldAddress>')
    .argument('<newAddress>')
    .option(...from)
    .action(
      async (wallet: string, proposer: string, id: string, old: string, signer: string, options: CommonOptions) => {
        await act(context, confidence, options, 'swap approval', (sender) => [
          'MsigSwapApprove',
          [
            addressArgument(wallet),
            sender,
            wholeNumber(id, 'txId'),
            addressArgument(proposer),
            addressArgument(old),
            addressArgument(signer),
          ],
        ])
      },
    )
  msig
    .command('swap-cancel')
    .description('Cancel a message to swap signers')
    .argument('<msig>')
    .argument('<txId>')
    .argument('<oldAddress>')
    .argument('<newAddress>')
    .option(...from)
    .action(async (wallet: string, id: string, old: string, signer: string, options: CommonOptions) => {
      await act(context, confidence, options, 'swap cancellation', (sender) => [
        'MsigSwapCancel',
        [addressArgument(wallet), sender, wholeNumber(id, 'txId'), addressArgument(old), addressArgument(signer)],
      ])
    })
  msig
    .command('propose-remove')
    .alias('remove-propose')
    .description('Propose to remove a signer')
    .argument('<msig>')
    .argument('<signer>')
    .option('--decrease-threshold', 'whether the number of required signers should be decreased')
    .option(...from)
    .action((wallet: string, signer: string, options: CommonOptions & { decreaseThreshold?: boolean }) =>
      propose(options, 'remove proposal', (sender) => [
        'MsigRemoveSigner',
        [addressArgument(wallet), sender, addressArgument(signer, 'signer'), options.decreaseThreshold === true],
      ]),
    )
}

/**
 * As Lotus reads it: a misread one would be hashed, and the hash names a proposal that is not there.
 * @throws CliError `USAGE`
 * @see go strconv ParseBool; lotus cli/multisig.go msigAddApproveCmd, msigAddCancelCmd
 */
function truth(text: string, what: string): boolean {
  if (/^(1|t|T|true|TRUE|True)$/.test(text)) return true
  if (/^(0|f|F|false|FALSE|False)$/.test(text)) return false
  throw new CliError('USAGE', `${what}: "${text}" is neither true nor false`)
}
