/** What is read of an executed message: a part of the machine's traces, so recorded ones do as well. */
import type { Cid } from '../codec/cid.ts'
import type { Address } from '../types/address.ts'
import type { ActorId, ExitCode, MethodNum, TokenAmount } from '../types/scalars.ts'

/** One call. */
export interface CallTrace {
  readonly msg: {
    /** An f0 address. */
    readonly from: Address
    readonly to: Address
    readonly value: TokenAmount
    readonly method: MethodNum
  }
  readonly msgRct: { readonly exitCode: ExitCode }
  /** The actor behind `to`; machines before FVM 3 do not say. */
  readonly invokedActor: { readonly id: ActorId } | null
  readonly subcalls: readonly CallTrace[]
}

/** Gas of one message, attoFIL; all 0 for implicit messages. */
export interface GasPaid {
  readonly baseFeeBurn: TokenAmount
  readonly overEstimationBurn: TokenAmount
  readonly minerTip: TokenAmount
}

/** One executed message, explicit or implicit. */
export interface ExecutedMessage {
  /** CID of the signed message; null for an implicit one. */
  readonly message: Cid | null
  /** Its receipt's. It may have failed after its call had ended well: FVM 2 charges for the returned value then. */
  readonly exitCode: ExitCode
  readonly gas: GasPaid
  readonly trace: CallTrace
}
