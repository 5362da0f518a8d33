/**
 * The transfers and fees of an executed tipset.
 *
 * A call moved its value only if it, every call above it and the message ended with exit code 0: a failing call takes back
 * whatever happened below it. Gas is paid all the same.
 *
 * @see ref-fvm fvm/src/call_manager/default.rs (a failed call reverts its transaction)
 */
import type { Steps } from '../base/steps.ts'
import type { Address } from '../types/address.ts'
import { addressToId, isIdAddress } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import type { ActorId } from '../types/scalars.ts'
import { REWARD_ID } from '../types/singletons.ts'
import type { CallTrace, ExecutedMessage } from './callTrace.ts'
import { TransferError } from './errors.ts'
import type { MessageFee, Transfer, TransferKind } from './transfer.ts'

/** Looks an address up in the state after the tipset; undefined when it is unknown. */
export type LookupId = (address: Address) => ActorId | undefined

/** What one tipset moved. */
export interface Collected {
  readonly transfers: Transfer[]
  readonly fees: MessageFee[]
}

/**
 * @param executed - all messages in execution order, implicit ones included
 * @throws {@link TransferError} `RECIPIENT_UNKNOWN` when a recipient of value is in no state: the traces are not of
 * this tipset
 */
export function* collectTransfers(executed: readonly ExecutedMessage[], lookupId: LookupId): Steps<Collected> {
  const transfers: Transfer[] = []
  const fees: MessageFee[] = []
  for (const [index, { message, exitCode, gas, trace }] of executed.entries()) {
    yield
    if (message !== null) {
      const burn = gas.baseFeeBurn + gas.overEstimationBurn
      if (burn !== 0n || gas.minerTip !== 0n) {
        fees.push({ message, index, from: addressToId(trace.msg.from), burn, tip: gas.minerTip })
      }
    }
    if (exitCode !== Exit.OK) continue
    walk(trace, [], (call, path) => {
      transfers.push({
        kind: kindOf(message === null, trace, path),
        message,
        index,
        path,
        from: addressToId(call.msg.from),
        to: recipientOf(call, lookupId),
        toAddress: call.msg.to,
        value: call.msg.value,
        method: call.msg.method,
      })
    })
  }
  return { transfers, fees }
}

/** Visits the calls that moved value, callers first. Not recursive: calls nest up to a thousand deep. */
function walk(
  root: CallTrace,
  path: readonly number[],
  visit: (call: CallTrace, path: readonly number[]) => void,
): void {
  const open: { call: CallTrace; path: readonly number[] }[] = [{ call: root, path }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { call, path: at } = next
    if (call.msgRct.exitCode !== 0) continue
    if (call.msg.value > 0n) visit(call, at)
    for (let i = call.subcalls.length - 1; i >= 0; i--) {
      const sub = call.subcalls[i]
      if (sub !== undefined) open.push({ call: sub, path: [...at, i] })
    }
  }
}

function kindOf(implicit: boolean, root: CallTrace, path: readonly number[]): TransferKind {
  if (!implicit) return path.length === 0 ? 'message' : 'internal'
  return isIdAddress(root.msg.to) && addressToId(root.msg.to) === REWARD_ID ? 'reward' : 'cron'
}

function recipientOf({ msg, invokedActor }: CallTrace, lookupId: LookupId): ActorId {
  if (invokedActor !== null) return invokedActor.id
  const id = isIdAddress(msg.to) ? addressToId(msg.to) : lookupId(msg.to)
  if (id !== undefined) return id
  throw new TransferError(
    'RECIPIENT_UNKNOWN',
    `Cannot collect transfers: recipient ${msg.to.toString('f')} is not in the state after the tipset`,
  )
}
