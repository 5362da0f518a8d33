/**
 * Check 16: the block's messages.
 * @see lotus chain/consensus/common.go checkBlockMessages
 */

import { PetrelError } from '../../base/errors.ts'
import { accountKey, tryActorOf } from '../../chain/actorLookup.ts'
import { storeBlockMessages } from '../../chain/blockMessages.ts'
import { resolveId } from '../../chain/chainView.ts'
import { messageSyntaxError } from '../../chain/messageSyntax.ts'
import { encode } from '../../codec/description.ts'
import { verifyAggregate } from '../../crypto/bls.ts'
import { MemoryBlockstore } from '../../ipld/blockstore.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { type Address, PROTOCOL_BLS, PROTOCOL_DELEGATED } from '../../types/address.ts'
import { type Message, message, messageCid } from '../../types/message.ts'
import { SIGNATURE_DELEGATED, SIGNATURE_SECP256K1, type Signature } from '../../types/signature.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import { authenticateMessage } from '../../types/verifySignature.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

const BLOCK_GAS_LIMIT = 10_000_000_000n
/** Delegated senders exist from here on. */
const DELEGATED_VERSION = 18
/** From here on other transactions than EIP-1559 ones are taken. */
const LEGACY_TRANSACTIONS_VERSION = 23
/** Length of an EIP-1559 signature, bytes; the others carry more. */
const EIP1559_SIGNATURE_LENGTH = 65
/** From here on two forms of one sender's address count as one. */
const HYPERDRIVE_VERSION = 13

/** What a block's messages cost to stand in it. */
export type MinimumGasAt = (epoch: number, lengthBytes: number) => bigint

/** Check 16.8: the header names these very messages. */
export function checkMessagesRoot({ header, messages }: BlockContext): void {
  const root = storeBlockMessages(new MemoryBlockstore(), messages)
  if (!root.equals(header.messages)) {
    throw new ValidationError(
      'MESSAGES_ROOT_WRONG',
      `messages didnt match message root in header: ${root.toString()} != ${header.messages.toString()}`,
    )
  }
}

/** Check 16.1: the aggregate over the BLS messages. @param after - the state that the parents leave */
export function checkBlsAggregate({ header, messages, view, baseState }: BlockContext, after: StateTree): void {
  if (messages.bls.length === 0) return
  const keys = messages.bls.map(({ from }) => keyOf(from))
  const data = messages.bls.map((one) => messageCid(one).bytes)
  if (!verifyAggregate((header.blsAggregate as Signature).data, data, keys)) {
    throw new ValidationError('BLS_AGGREGATE_INVALID', 'bls aggregate signature was invalid')
  }

  function keyOf(from: Address): Uint8Array {
    const tree = resolveId(baseState, from) === undefined ? after : baseState
    const key = accountKey(view, tree, from)
    if (key.protocol !== PROTOCOL_BLS) throw new ValidationError('BLS_AGGREGATE_INVALID', 'address must be BLS type')
    return key.payload
  }
}

/** Check 16.2: which signatures may stand in the second list. */
function checkKind({ signature }: SignedMessage, networkVersion: number): void {
  const { type, data } = signature
  if (type === SIGNATURE_SECP256K1) return
  const delegated = type === SIGNATURE_DELEGATED && networkVersion >= DELEGATED_VERSION
  if (!delegated) {
    throw new ValidationError('MESSAGE_KIND_WRONG', `block had invalid signed message: signature of type ${type}`)
  }
  if (networkVersion < LEGACY_TRANSACTIONS_VERSION && data.length !== EIP1559_SIGNATURE_LENGTH) {
    throw new ValidationError(
      'MESSAGE_KIND_WRONG',
      'network version should be at least NV23 for sending legacy ETH transactions',
    )
  }
}

/** Checks 16.3 to 16.7, message by message in block order. @param after - the state that the parents leave */
export function checkMessages(context: BlockContext, after: StateTree, minimumGas: MinimumGasAt): void {
  const { header, messages, view } = context
  const networkVersion = view.networkVersion(header.height)
  const nonces = new Map<string, bigint>()
  let gas = 0n

  const apply = (one: Message, length: number): void => {
    const wrong = messageSyntaxError(one, minimumGas(header.height, length), networkVersion)
    if (wrong !== undefined) throw new ValidationError('MESSAGE_SYNTAX_WRONG', `block had invalid message: ${wrong}`)
    gas += one.gasLimit
    if (gas > BLOCK_GAS_LIMIT) throw new ValidationError('GAS_LIMIT_EXCEEDED', 'block gas limit exceeded')
    const sender = senderOf(one.from)
    const expected = nonces.get(sender.key) ?? sender.nonce
    if (one.nonce !== expected) {
      throw new ValidationError('NONCE_WRONG', `wrong nonce (exp: ${expected}, got: ${one.nonce})`)
    }
    nonces.set(sender.key, expected + 1n)
  }

  const senderOf = (from: Address): { key: string; nonce: bigint } => {
    const actor = tryActorOf(after, from)
    if (actor === undefined)
      throw new ValidationError('SENDER_INVALID', `failed to get actor: ${view.addressText(from)} not found`)
    const kind = view.codes(actor.code)?.kind
    const mayWait =
      kind === 'placeholder' && actor.nonce === 0n && actor.delegatedAddress?.protocol === PROTOCOL_DELEGATED
    const valid = kind === 'account' || (networkVersion >= DELEGATED_VERSION && (kind === 'ethaccount' || mayWait))
    if (!valid) throw new ValidationError('SENDER_INVALID', 'Sender must be an account actor')
    const id = networkVersion >= HYPERDRIVE_VERSION ? resolveId(after, from) : undefined
    return { key: id === undefined ? from.key : id.toString(), nonce: actor.nonce }
  }

  for (const one of messages.bls) apply(one, encode(message, one).length)
  for (const one of messages.signed) {
    checkKind(one, networkVersion)
    apply(one.message, encode(signedMessage, one).length)
    checkSender(context, one, after)
  }
}

/** Check 16.7: the sender's own signature. */
function checkSender({ view }: BlockContext, signed: SignedMessage, after: StateTree): void {
  try {
    authenticateMessage(signed, accountKey(view, after, signed.message.from), BigInt(view.network.chainId))
  } catch (cause) {
    if (!(cause instanceof PetrelError)) throw cause
    throw new ValidationError(
      'MESSAGE_SIGNATURE_INVALID',
      `block had invalid signed message: ${cause.message}`,
      {},
      { cause },
    )
  }
}
