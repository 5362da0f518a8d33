import { METHOD_CONSTRUCTOR, MultisigMethod } from '../../types/methodNumbers.ts'
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

/** Methods of multisigs. @see go-state-types builtin/v9 … v18/multisig/methods.go */
export const multisigMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', constructorParams, null),
  method(MultisigMethod.Propose, 'Propose', proposeParams, proposeReturn),
  method(MultisigMethod.Approve, 'Approve', txnIDParams, approveReturn),
  method(MultisigMethod.Cancel, 'Cancel', txnIDParams, null),
  method(MultisigMethod.AddSigner, 'AddSigner', addSignerParams, null),
  method(MultisigMethod.RemoveSigner, 'RemoveSigner', removeSignerParams, null),
  method(MultisigMethod.SwapSigner, 'SwapSigner', swapSignerParams, null),
  method(8n, 'ChangeNumApprovalsThreshold', changeNumApprovalsThresholdParams, null),
  method(9n, 'LockBalance', lockBalanceParams, null),
  method(21182899n, 'RemoveSignerExported', removeSignerParams, null, { from: 10, retired: true }),
  method(1289044053n, 'ApproveExported', txnIDParams, approveReturn, { from: 10, retired: true }),
  method(1696838335n, 'ProposeExported', proposeParams, proposeReturn, { from: 10, retired: true }),
  method(1999470977n, 'LockBalanceExported', lockBalanceParams, null, { from: 10, retired: true }),
  method(3028530033n, 'AddSignerExported', addSignerParams, null, { from: 10, retired: true }),
  method(3365893656n, 'CancelExported', txnIDParams, null, { from: 10, retired: true }),
  method(3375931653n, 'ChangeNumApprovalsThresholdExported', changeNumApprovalsThresholdParams, null, {
    from: 10,
    retired: true,
  }),
  method(3726118371n, 'UniversalReceiverHook', rawParams, null),
  method(3968117037n, 'SwapSignerExported', swapSignerParams, null, { from: 10, retired: true }),
]
