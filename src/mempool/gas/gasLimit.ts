/**
 * The gas that a message uses, found by running it on the pool's head after everything its sender has pending.
 * @see lotus node/impl/gasutils/gasutils.go gasEstimateGasLimitInternal
 */
import { errorMessage, PetrelError } from '../../base/errors.ts'
import { ChainError } from '../../chain/errors.ts'
import type { InvocResult, VmHost } from '../../chain/vm.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { Address } from '../../types/address.ts'
import { type ChainMessage, signedChainMessage } from '../../types/chainMessage.ts'
import type { Message } from '../../types/message.ts'
import { BLOCK_GAS_LIMIT } from '../../types/protocol.ts'
import type { Tipset } from '../../types/tipset.ts'
import { MempoolError } from '../errors.ts'
import type { MessagePool } from '../messagePool.ts'
import { executionError } from './executionError.ts'
import { transitionalGas } from './transitionalGas.ts'

/** What the estimate needs. */
export interface GasLimitDeps {
  readonly pool: Pick<MessagePool, 'pendingOf' | 'tipset'>
  readonly vm: Pick<VmHost, 'callWithGas'>
  readonly chain: { parent(tipset: Tipset): Tipset }
  /** Key address behind a sender, in the state of a tipset. */
  resolveKeyAddress(address: Address, tipset: Tipset): Address
  readonly addressPrefix: 'f' | 't'
  /** Height of the upgrade after which a transfer costs three times as much. */
  readonly hyggeHeight: number
  /** Name of the recipient actor's code in the parent state, undefined when there is none. */
  actorKindAt(address: Address, tipset: Tipset): string | undefined
}

/**
 * @param at - helps to resolve the sender; the run itself is on the pool's tipset
 * @returns gas used, without any margin
 * @throws {@link MempoolError} `OUT_OF_GAS`, `EXECUTION_REVERTED`, `ESTIMATION_FAILED`
 */
export async function estimateGasLimit(message: Message, at: Tipset, deps: GasLimitDeps): Promise<bigint> {
  const sender = resolveSender(message, at, deps)
  const prior: ChainMessage[] = []
  for (const { message: pending, signed } of deps.pool.pendingOf(sender)) {
    if (pending.nonce === message.nonce) break
    prior.push(signedChainMessage(signed))
  }
  const trial: Message = { ...message, gasLimit: BLOCK_GAS_LIMIT, gasFeeCap: 0n, gasPremium: 0n }
  let tipset = deps.pool.tipset
  for (;;) {
    const result = await run(trial, prior, tipset, deps)
    if (result !== undefined) {
      const { msgRct, error } = result
      if (msgRct.exitCode !== 0) throw executionError({ receipt: msgRct, error })
      const { method, to } = message
      return transitionalGas(msgRct.gasUsed, tipset.height, deps.hyggeHeight, method, () =>
        deps.actorKindAt(to, tipset),
      )
    }
    tipset = deps.chain.parent(tipset)
  }
}

/** @returns undefined where a migration lies that is too expensive to run for a trial: then the state before it does */
async function run(
  trial: Message,
  priorMessages: readonly ChainMessage[],
  tipset: Tipset,
  { vm }: GasLimitDeps,
): Promise<InvocResult | undefined> {
  try {
    return await vm.callWithGas(trial, tipset, { priorMessages, tipsetMessages: 'all', skipSenderValidation: false })
  } catch (cause) {
    if (cause instanceof ChainError && cause.code === 'EXPENSIVE_FORK' && tipset.height > 0) return undefined
    if (!(cause instanceof PetrelError) || cause instanceof BlockMissing) throw cause
    const text = `gas estimation failed: CallWithGas failed: ${errorMessage(cause)}`
    throw new MempoolError('ESTIMATION_FAILED', text, {}, { cause })
  }
}

function resolveSender(message: Message, at: Tipset, deps: GasLimitDeps): Address {
  try {
    return deps.resolveKeyAddress(message.from, at)
  } catch (cause) {
    throw new MempoolError(
      'ESTIMATION_FAILED',
      `gas estimation failed: resolving sender ${message.from.toString(deps.addressPrefix)} (${errorMessage(cause)}): ` +
        'sender validation failed',
      {},
      { cause },
    )
  }
}
