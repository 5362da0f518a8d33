/**
 * Check 16: the block's messages, each check of them in its own file.
 * @see lotus chain/consensus/common.go checkBlockMessages
 */
import { resolveId } from '../../chain/chainView.ts'
import { encode } from '../../codec/description.ts'
import type { Address } from '../../types/address.ts'
import { headerCid } from '../../types/blockHeader.ts'
import { type Message, message } from '../../types/message.ts'
import { signedMessage } from '../../types/signedMessage.ts'
import type { BlockContext } from '../blockContext.ts'
import { checkBlsAggregate } from './blsAggregate.ts'
import { checkGasLimit } from './gasLimit.ts'
import { checkMessageKind } from './messageKind.ts'
import { checkMessageSignature } from './messageSignature.ts'
import { checkMessageSyntax } from './messageSyntax.ts'
import { checkMessagesRoot } from './messagesRoot.ts'
import { checkNonce } from './nonce.ts'
import { checkSender } from './sender.ts'

/** From here on two forms of one sender's address count as one. */
const HYPERDRIVE_VERSION = 13

/** Senders and nonces need the parents' result: a follower that does not execute leaves them out. */
export function checkMessages(context: BlockContext): void {
  const { view, header, messages, networkVersion } = context
  if (messages === undefined || view.network.whitelistedBlock?.equals(headerCid(header)) === true) return
  checkMessagesRoot(context, messages)
  checkBlsAggregate(context, messages)
  const checkNext = context.baseResult === undefined ? undefined : nonceCheck(context)
  let gas = 0n
  const check = (checked: Message, length: number): void => {
    checkMessageSyntax(checked, context.deps.minimumGas(header.height, length), networkVersion)
    gas += checked.gasLimit
    checkGasLimit(gas)
    checkNext?.(checked)
  }
  for (const plain of messages.bls) check(plain, encode(message, plain).length)
  for (const signed of messages.signed) {
    checkMessageKind(signed, networkVersion)
    check(signed.message, encode(signedMessage, signed).length)
    checkMessageSignature(context, signed)
  }
}

function nonceCheck(context: BlockContext): (checked: Message) => void {
  const { view, networkVersion, resultState } = context
  const nonces = new Map<string, bigint>()
  const identity = (from: Address): string => {
    const id = networkVersion >= HYPERDRIVE_VERSION ? resolveId(resultState, from) : undefined
    return id === undefined ? from.key : id.toString()
  }
  return (checked) => {
    const key = identity(checked.from)
    const expected = nonces.get(key) ?? checkSender(view, resultState, checked.from, networkVersion).nonce
    checkNonce(checked, expected)
    nonces.set(key, expected + 1n)
  }
}
