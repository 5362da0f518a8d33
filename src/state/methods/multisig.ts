/** Methods of multisigs. @see go-state-types builtin/v9 … v18/multisig/methods.go */
import {
  addSignerParams,
  approveReturn,
  changeNumApprovalsThresholdParams,
  constructorParams,
  lockBalanceParams,
  proposeParams,
  proposeReturn,
  removeSignerParams,
  swapSignerParams,
  txnIDParams,
} from '../params/multisig.ts'
import { rawParams } from '../params/rawParams.ts'
import { type ActorMethod, method } from './actorMethod.ts'

export const multisigMethods: readonly ActorMethod[] = [
  method(1n, 'Constructor', constructorParams, null),
  method(2n, 'Propose', proposeParams, proposeReturn),
  method(3n, 'Approve', txnIDParams, approveReturn),
  method(4n, 'Cancel', txnIDParams, null),
  method(5n, 'AddSigner', addSignerParams, null),
  method(6n, 'RemoveSigner', removeSignerParams, null),
  method(7n, 'SwapSigner', swapSignerParams, null),
  method(8n, 'ChangeNumApprovalsThreshold', changeNumApprovalsThresholdParams, null),
  method(9n, 'LockBalance', lockBalanceParams, null),
  method(21182899n, 'RemoveSignerExported', removeSignerParams, null, { from: 10 }),
  method(1289044053n, 'ApproveExported', txnIDParams, approveReturn, { from: 10 }),
  method(1696838335n, 'ProposeExported', proposeParams, proposeReturn, { from: 10 }),
  method(1999470977n, 'LockBalanceExported', lockBalanceParams, null, { from: 10 }),
  method(3028530033n, 'AddSignerExported', addSignerParams, null, { from: 10 }),
  method(3365893656n, 'CancelExported', txnIDParams, null, { from: 10 }),
  method(3375931653n, 'ChangeNumApprovalsThresholdExported', changeNumApprovalsThresholdParams, null, { from: 10 }),
  method(3726118371n, 'UniversalReceiverHook', rawParams, null),
  method(3968117037n, 'SwapSignerExported', swapSignerParams, null, { from: 10 }),
]
