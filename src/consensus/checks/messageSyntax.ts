/** Check 16.3: the message's own fields. @see lotus chain/types/message.go ValidForBlockInclusion */
import { messageSyntaxError } from '../../chain/messageSyntax.ts'
import type { Message } from '../../types/message.ts'
import { ValidationError } from '../validationError.ts'

/** @param minimumGas - what the message's bytes cost on chain */
export function checkMessageSyntax(message: Message, minimumGas: bigint, networkVersion: number): void {
  const wrong = messageSyntaxError(message, minimumGas, networkVersion)
  if (wrong !== undefined) throw new ValidationError('MESSAGE_SYNTAX_WRONG', `block had invalid message: ${wrong}`)
}
