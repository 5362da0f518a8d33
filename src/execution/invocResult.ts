/**
 * An applied message in the form that the node hands out.
 * @see lotus chain/stmgr/execute.go; api/api_full.go InvocResult, MakeMsgGasCost
 */
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { GasCost, InvocResult } from '../chain/vm.ts'
import { createTrace, type ExecutionTrace } from '../fvm/trace.ts'
import { UNDEF_ADDRESS } from '../types/address.ts'
import { messageCid } from '../types/message.ts'
import type { AppliedMessage } from './executeTipset.ts'

/** Of implicit messages. */
const NO_COST: GasCost = {
  message: null,
  gasUsed: 0n,
  baseFeeBurn: 0n,
  overEstimationBurn: 0n,
  minerPenalty: 0n,
  minerTip: 0n,
  refund: 0n,
  totalCost: 0n,
}

/** The trace of a message that was refused before it ran: Go's zero value. */
function emptyTrace(): ExecutionTrace {
  return createTrace({
    from: UNDEF_ADDRESS,
    to: UNDEF_ADDRESS,
    value: 0n,
    method: 0n,
    params: EMPTY_BYTES,
    paramsCodec: 0,
    gasLimit: 0n,
    readOnly: false,
  })
}

function gasCost(applied: AppliedMessage): GasCost {
  const { message, result } = applied
  if (applied.isImplicit) return NO_COST
  const { gas, receipt } = result
  return {
    message: messageCid(message),
    gasUsed: receipt.gasUsed,
    baseFeeBurn: gas.baseFeeBurn,
    overEstimationBurn: gas.overEstimationBurn,
    minerPenalty: gas.minerPenalty,
    minerTip: gas.minerTip,
    refund: gas.refund,
    totalCost: message.gasFeeCap * message.gasLimit - gas.refund,
  }
}

/** A message that runs out of gas before any actor fails leaves no backtrace. @see lotus chain/vm/fvm.go FVM.ApplyMessage */
const NO_BACKTRACE = 'unknown error'

/** @param applied - with a trace unless the message was refused */
export function invocResult(applied: AppliedMessage): InvocResult {
  const { result } = applied
  const { exitCode } = result.receipt
  return {
    msgCid: applied.cid,
    msg: applied.message,
    msgRct: result.receipt,
    gasCost: gasCost(applied),
    executionTrace: result.trace ?? emptyTrace(),
    error: exitCode === 0 ? '' : `${result.error || NO_BACKTRACE} (RetCode=${exitCode})`,
    // No clock in the core: times are not measured.
    duration: 0,
  }
}
