/** What commands about state and executions share: a tipset as the user names it, calls as lines. */
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import type { JsonCid, JsonTrace } from '../answers.ts'
import { base64ToHex, type CliContext, wholeNumber } from '../context.ts'
import type { RpcClient } from '../rpcClient.ts'

/** `@head`, `@<height>` or CIDs with commas; undefined: the node's own choice (its head). */
export async function tipsetKey(client: RpcClient, reference: string | undefined): Promise<readonly JsonCid[] | null> {
  if (reference === undefined || reference === '' || reference === '@head') return null
  if (reference.startsWith('@')) {
    return (await client.call('ChainGetTipSetByHeight', [wholeNumber(reference.slice(1), 'tipset'), null])).Cids
  }
  return reference.split(',').map((text) => ({ '/': text.trim() }))
}

/** One line: from, to, FIL, method, parameters, exit code, return value; bytes in hexadecimal, tabs between. */
export const callText = (call: JsonTrace['Msg'], exitCode: number, result: string | null): string =>
  [
    call.From,
    call.To,
    formatFil(BigInt(call.Value)),
    call.Method,
    base64ToHex(call.Params),
    exitCode,
    base64ToHex(result),
  ].join('\t')

/** Prints calls and the calls in them, each level further to the right. */
export function printSubcalls(
  { io }: Pick<CliContext, 'io'>,
  prefix: string,
  calls: readonly JsonTrace[] | null,
): void {
  for (const call of calls ?? []) {
    line(io, prefix + callText(call.Msg, call.MsgRct.ExitCode, call.MsgRct.Return))
    printSubcalls({ io }, `${prefix}\t`, call.Subcalls)
  }
}
