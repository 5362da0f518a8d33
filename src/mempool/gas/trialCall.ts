/**
 * Runs a message on the pool's head after everything its sender has pending, and what is on its way to disk: that is sent as soon as it
 * is there.
 * @see lotus node/impl/gasutils/gasutils.go gasEstimateCallWithGasInternal
 */
import { errorMessage, PetrelError, unlessThrown } from '../../base/errors.ts'
import { ChainError } from '../../chain/errors.ts'
import type { CallOptions, InvocResult, VmHost } from '../../chain/vm.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { Address } from '../../types/address.ts'
import { type ChainMessage, signedChainMessage } from '../../types/chainMessage.ts'
import type { Message } from '../../types/message.ts'
import type { Tipset } from '../../types/tipset.ts'
import { MempoolError, type MempoolErrorCode } from '../errors.ts'
import type { MessagePool } from '../messagePool.ts'

/** What a trial needs. */
export interface TrialDeps {
  readonly pool: Pick<MessagePool, 'placedOf' | 'tipset'>
  readonly vm: Pick<VmHost, 'callWithGas'>
  readonly chain: { parent(tipset: Tipset): Tipset }
  /** Key address behind a sender, in the state of a tipset. */
  resolveKeyAddress(address: Address, tipset: Tipset): Address
  readonly addressPrefix: 'f' | 't'
  /** Aborted when nobody waits for the estimate any more: then what runs ends, and nothing is begun. */
  readonly signal?: AbortSignal
}

/** A message that was run, and on what; without a trace. */
export interface Trial {
  readonly result: InvocResult
  readonly prior: readonly ChainMessage[]
  readonly tipset: Tipset
}

/**
 * @param at - helps to resolve the sender; the run itself is on the pool's tipset
 * @param anySender - the sender need not exist, and may be a contract
 * @throws {@link MempoolError} `SENDER_INVALID` for a sender that does not exist; `ESTIMATION_FAILED`
 */
export async function trialCall(message: Message, at: Tipset, anySender: boolean, deps: TrialDeps): Promise<Trial> {
  const sender = anySender ? message.from : resolveSender(message, at, deps)
  const prior: ChainMessage[] = []
  for (const { message: pending, signed } of placedOf(sender, anySender, deps)) {
    if (pending.nonce === message.nonce) break
    prior.push(signedChainMessage(signed))
  }
  for (let { tipset } = deps.pool; ; tipset = deps.chain.parent(tipset)) {
    try {
      return { result: await runAfter(message, prior, tipset, anySender, deps), prior, tipset }
    } catch (cause) {
      // A migration that is too expensive to run for a trial: then the state before it does.
      if (cause instanceof ChainError && cause.code === 'EXPENSIVE_FORK' && tipset.height > 0) continue
      if (!(cause instanceof PetrelError) || cause instanceof BlockMissing) throw cause
      const call = anySender ? 'CallWithGasSkipSenderValidation' : 'CallWithGas'
      throw trialError(`${call} failed: ${errorMessage(cause)}`, cause)
    }
  }
}

/** Who has no key has nothing pending: a contract's ID, or that of nobody, may be asked for where any sender may. */
function placedOf(sender: Address, anySender: boolean, { pool }: TrialDeps): ReturnType<TrialDeps['pool']['placedOf']> {
  if (!anySender) return pool.placedOf(sender)
  return unlessThrown(() => pool.placedOf(sender), MempoolError) ?? []
}

/** The same again with other gas or with a trace, on the same tipset. */
export function runAfter(
  message: Message,
  priorMessages: readonly ChainMessage[],
  tipset: Tipset,
  anySender: boolean,
  { vm, signal }: Pick<TrialDeps, 'vm' | 'signal'>,
  tracing = false,
): Promise<InvocResult> {
  const skipSenderValidation = anySender
  const options: CallOptions = { priorMessages, tipsetMessages: 'all', skipSenderValidation, tracing }
  return vm.callWithGas(message, tipset, options, signal)
}

function resolveSender(message: Message, at: Tipset, deps: TrialDeps): Address {
  try {
    return deps.resolveKeyAddress(message.from, at)
  } catch (cause) {
    if (cause instanceof BlockMissing) throw cause
    const name = message.from.toString(deps.addressPrefix)
    throw trialError(
      `resolving sender ${name} (${errorMessage(cause)}): sender validation failed`,
      cause,
      'SENDER_INVALID',
    )
  }
}

function trialError(text: string, cause: unknown, known?: MempoolErrorCode): MempoolError {
  const isSender = cause instanceof ChainError && cause.code === 'SENDER_INVALID'
  const code = known ?? (isSender ? 'SENDER_INVALID' : 'ESTIMATION_FAILED')
  return new MempoolError(code, `gas estimation failed: ${text}`, {}, { cause })
}
