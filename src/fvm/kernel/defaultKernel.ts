import type { Address } from '../../types/address.ts'
import type { MethodNum, TokenAmount } from '../../types/scalars.ts'
import type { InvocationResult } from './callContext.ts'
import { type BlockHandle, type Kernel, NO_DATA, SEND_READ_ONLY, type SendResult, type Steps } from './kernel.ts'
import { Errno, SyscallError } from './outcomes.ts'
import { ProofKernel } from './proofKernel.ts'
import { runSteps } from './steps.ts'

/**
 * The kernel of one invocation: everything that its actor asks goes through here, is charged here, and is answered out of
 * the call manager's message and machine. The classes below it bring one capability each; here are the calls of others.
 * @see ref-fvm fvm/src/kernel/default.rs `impl SendOps`
 */
export class DefaultKernel extends ProofKernel implements Kernel {
  send(
    to: Address,
    method: MethodNum,
    params: BlockHandle,
    value: TokenAmount,
    gasLimit?: bigint,
    flags = 0n,
  ): SendResult {
    return runSteps(this.sendSteps(to, method, params, value, gasLimit, flags))
  }

  *sendSteps(
    to: Address,
    method: MethodNum,
    params: BlockHandle,
    value: TokenAmount,
    gasLimit?: bigint,
    flags = 0n,
  ): Steps<SendResult> {
    if ((flags & ~SEND_READ_ONLY) !== 0n) throw new SyscallError(Errno.IllegalArgument, `invalid send flags: ${flags}`)
    const readOnly = this.readOnly || flags === SEND_READ_ONLY
    if (readOnly && value !== 0n) {
      throw new SyscallError(Errno.ReadOnly, 'cannot transfer value when read-only')
    }
    const block = params === NO_DATA ? undefined : this.blocks.get(params)
    if (this.blocks.isFull) throw new SyscallError(Errno.LimitExceeded, 'cannot store return block')
    const calls = this.calls
    const result: InvocationResult = yield* calls.transactionSteps(() =>
      calls.callSteps({ from: this.actorId, to, method, params: block, value, gasLimit, readOnly }),
    )
    const returned = result.block
    if (returned === undefined) {
      return { exitCode: result.exitCode, returnHandle: NO_DATA, returnCodec: 0, returnSize: 0 }
    }
    return {
      exitCode: result.exitCode,
      returnHandle: this.blocks.putReachable(returned),
      returnCodec: returned.codec,
      returnSize: returned.data.length,
    }
  }
}
