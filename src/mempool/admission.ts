/**
 * The checks that a message passes before it enters the pool, in Lotus' order and with its texts.
 * @see lotus chain/messagepool/messagepool.go checkMessage, addTs, verifyMsgBeforeAdd, checkBalance
 */
import { messageSyntaxError } from '../chain/messageSyntax.ts'
import type { ActorState } from '../types/actor.ts'
import { delegatedParts, NAMESPACE_EAM } from '../types/address.ts'
import { formatFil } from '../types/fil.ts'
import { MINIMUM_BASE_FEE, TOTAL_FILECOIN } from '../types/protocol.ts'
import { SIGNATURE_DELEGATED } from '../types/signature.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { MempoolError } from './errors.ts'
import { feeCapLowerBound } from './fees.ts'
import type { MessageSet } from './messageSet.ts'
import type { MinimumGas } from './minimumGas.ts'
import type { PooledMessage } from './pooledMessage.ts'
import type { ActorReader, MempoolChain } from './ports.ts'
import { ADD_BASE_FEE_DIVISOR, MAX_MESSAGE_SIZE_BYTES } from './rules.ts'
import type { SignatureCheck } from './signatureCheck.ts'
import { actorNotFound } from './texts.ts'

/** Ethereum accounts and placeholders can send from here on. */
const ETH_ACCOUNT_VERSION = 18
/** Legacy Ethereum transactions can be sent from here on. */
const LEGACY_ETH_VERSION = 23
/** Length of the signature of an EIP-1559 transaction; legacy ones have a marker byte more. */
const EIP1559_SIGNATURE_BYTES = 65

/**
 * Checks that need no state.
 * @throws {@link MempoolError}
 */
export function assertStateless(
  pooled: PooledMessage,
  tipset: Tipset,
  chain: MempoolChain,
  signatures: SignatureCheck,
): void {
  const { message, sizeBytes } = pooled
  if (sizeBytes > MAX_MESSAGE_SIZE_BYTES) {
    throw new MempoolError('MESSAGE_TOO_BIG', `mpool message too large (${sizeBytes}B): message too big`)
  }
  const syntax = messageSyntaxError(message, 0n, chain.networkVersion(tipset.height))
  if (syntax !== undefined) {
    throw new MempoolError('MESSAGE_INVALID', `message not valid for block inclusion: ${syntax}`)
  }
  if (message.value >= TOTAL_FILECOIN) {
    throw new MempoolError('VALUE_TOO_HIGH', 'cannot send more filecoin than will ever exist')
  }
  if (message.gasFeeCap < MINIMUM_BASE_FEE) throw new MempoolError('FEE_CAP_TOO_LOW', 'gas fee cap too low')
  signatures.assertValid(pooled)
}

/**
 * A message can only be included in the epoch after the pool's tipset, so its sender must be able to send there.
 * @throws {@link MempoolError} `SENDER_UNKNOWN`, `SENDER_INVALID`; BlockDamaged
 * @see lotus chain/consensus/common.go IsValidForSending, IsValidEthTxForSending
 */
export function assertSender(
  pooled: PooledMessage,
  tipset: Tipset,
  after: ActorReader,
  chain: MempoolChain,
  prefix: 'f' | 't',
): void {
  const { from } = pooled.message
  const actor = after.actor(from)
  if (actor === undefined) {
    throw new MempoolError('SENDER_UNKNOWN', `failed to get sender actor: ${actorNotFound(from, prefix)}`)
  }
  const version = chain.networkVersion(tipset.height + 1)
  const { type, data } = pooled.signed.signature
  if (type === SIGNATURE_DELEGATED && data.length !== EIP1559_SIGNATURE_BYTES && version < LEGACY_ETH_VERSION) {
    throw new MempoolError(
      'SENDER_INVALID',
      `network version should be at least NV23 for sending legacy ETH transactions; but current network version is ${version}`,
    )
  }
  const mayNot = (sender: ActorState): boolean => !canSend(sender, chain.actorKind(sender.code), version)
  // Read again before whoever gossiped it is blamed: a bit may have flipped in the store.
  if (mayNot(actor) && mayNot(after.checkedActor(from) ?? actor)) {
    throw new MempoolError('SENDER_INVALID', `sender actor ${from.toString(prefix)} is not a valid top-level sender`)
  }
}

/** Whether an actor of this kind may send messages of its own. */
function canSend(actor: ActorState, kind: string | undefined, networkVersion: number): boolean {
  if (kind === 'account') return true
  if (networkVersion < ETH_ACCOUNT_VERSION) return false
  if (kind === 'ethaccount') return true
  // a placeholder becomes an Ethereum account with its first message
  if (kind !== 'placeholder' || actor.nonce !== 0n || actor.delegatedAddress === null) return false
  return delegatedParts(actor.delegatedAddress)?.namespace === NAMESPACE_EAM
}

/**
 * Checks gas limit and fee cap against the tipset.
 * @param local - ours: kept although its fee cap is too low for now
 * @returns whether it is worth sending to the network now
 * @throws {@link MempoolError} `MESSAGE_INVALID`, `SOFT_FAILURE`
 */
export function assertIncludable(
  pooled: PooledMessage,
  tipset: Tipset,
  chain: MempoolChain,
  minimumGas: MinimumGas,
  local: boolean,
): boolean {
  const { message } = pooled
  const epoch = tipset.height + 1
  const { chainLengthBytes } = pooled
  const least = minimumGas.total(epoch, chainLengthBytes)
  const syntax = messageSyntaxError(message, least, chain.networkVersion(epoch))
  if (syntax !== undefined) {
    throw new MempoolError('MESSAGE_INVALID', `verify msg failed: message will not be included in a block: ${syntax}`)
  }
  const executed = minimumGas.executed(epoch, chainLengthBytes)
  if (local && message.gasLimit < executed) {
    // Lotus takes it. Its nonce would stay unused, and whatever its sender sends after it would wait for that.
    throw new MempoolError(
      'MESSAGE_INVALID',
      `verify msg failed: message will not be executed: 'GasLimit' field cannot be less than what a message costs ${message.gasLimit} < ${executed}`,
    )
  }
  const bound = feeCapLowerBound(firstBlock(tipset).parentBaseFee, ADD_BASE_FEE_DIVISOR)
  if (message.gasFeeCap >= bound) return local
  if (local) return false
  throw new MempoolError(
    'SOFT_FAILURE',
    "verify msg failed: GasFeeCap doesn't meet base fee lower bound for inclusion in the next 20 blocks " +
      `(GasFeeCap: ${message.gasFeeCap}, baseFeeLowerBound: ${bound}): validation failure`,
  )
}

/**
 * The sender can pay the gas of this message, and of it with everything else pending. The value is no part of it.
 * @throws {@link MempoolError} `NOT_ENOUGH_FUNDS`, `SOFT_FAILURE`
 */
export function assertFunds(pooled: PooledMessage, balance: bigint, pending: MessageSet | undefined): void {
  const required = pooled.requiredFunds
  if (balance < required) {
    throw new MempoolError(
      'NOT_ENOUGH_FUNDS',
      `failed to check balance: not enough funds (required: ${formatFil(required)}, balance: ${formatFil(balance)}): ` +
        'not enough funds to execute transaction',
    )
  }
  if (pending === undefined) return
  const together = required + pending.requiredFundsWithout(pooled.message.nonce)
  if (balance < together) {
    throw new MempoolError(
      'SOFT_FAILURE',
      'failed to check balance: not enough funds including pending messages ' +
        `(required: ${formatFil(together)}, balance: ${formatFil(balance)}): validation failure`,
    )
  }
}
