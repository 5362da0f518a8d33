/** What all commands of a multisig do: send one message, wait for it, tell what became of it. */
import type { Json } from '../../../src/codec/jsonText.ts'
import { line } from '../../server/programIo.ts'
import { addressArgument, base64ToHex, type CliContext } from '../context.ts'
import { type Drafting, named, pushDrafted, returned, senderOf, sent, succeeded } from '../messages.ts'

/** Of every command that sends a message. */
export interface CommonOptions {
  readonly from?: string
}

/** Runs a command that sends one message of a multisig and waits for it. */
export async function act(
  context: CliContext,
  confidence: () => number,
  options: CommonOptions,
  what: string,
  draft: (from: string) => Drafting,
): Promise<{ readonly cid: string; readonly found: { readonly [name: string]: Json } }> {
  // Before anything is sent: who is told that it was not understood sends it again.
  const epochs = confidence()
  const client = await context.node()
  const from = await senderOf(client, options.from === undefined ? undefined : addressArgument(options.from, 'from'))
  const cid = await pushDrafted(client, draft(from))
  named(context, cid, what)
  const found = await succeeded(client, cid, epochs, what)
  sent(context, cid, found)
  return { cid, found: returned(found) }
}

/** Prints the transaction's ID, and what became of it where one approval was enough. */
export function proposed({ io }: CliContext, found: { readonly [name: string]: Json }): void {
  line(io, `Transaction ID: ${String(found.TxnID)}`)
  if (found.Applied !== true) return
  line(io, 'Transaction was executed during propose')
  line(io, `Exit Code: ${String(found.Code)}`)
  line(io, `Return Value: ${base64ToHex(typeof found.Ret === 'string' ? found.Ret : null)}`)
}
