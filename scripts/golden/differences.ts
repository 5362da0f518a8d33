/** Recorded answers that are meant to differ from Petrel's, each with the reason. */

/** One difference, recognised by the line that {@link firstDifference} gives. */
export interface AnswerDifference {
  readonly method: string
  readonly line: RegExp
  readonly reason: string
}

export const ANSWER_DIFFERENCES: readonly AnswerDifference[] = [
  {
    method: 'eth_getBlockByHash',
    line: /^\.logsBloom: expected "0xf{200}/,
    reason:
      "one answer per chain: Lotus' index did not have the tipset at that moment and says 'anything' (all ones); asked by " +
      'number, the same block has the filter of its logs, which Petrel gives in both cases',
  },
]

/** The entry that explains a difference. */
export function explained(method: string, line: string): AnswerDifference | undefined {
  return ANSWER_DIFFERENCES.find((one) => one.method === method && one.line.test(line))
}
