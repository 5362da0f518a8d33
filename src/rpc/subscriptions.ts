/** Channels and subscriptions that are open, and what they want. */
import { SUBSCRIPTION_LIMITS, WANTED_LIMITS } from '../base/bounds.ts'
import type { CallerName } from './cost.ts'
import { RpcError } from './errors.ts'
import { Shares } from './shares.ts'

/** Of one server. */
export class Subscriptions {
  readonly #open = new Shares(SUBSCRIPTION_LIMITS, (who, most) =>
    exceeded(`too many channels and subscriptions: ${who} may have ${most}`, most),
  )
  readonly #wanted = wantedShares('subscriptions')

  /**
   * Counts one more.
   * @returns gives it back
   * @throws RpcError `LIMIT_EXCEEDED`
   */
  open(caller: CallerName): () => void {
    return this.#open.take(caller)
  }

  /**
   * Counts what one wants.
   * @returns gives it back
   * @throws RpcError `LIMIT_EXCEEDED`
   */
  want(caller: CallerName, bytes: number): () => void {
    return this.#wanted.take(caller, bytes)
  }
}

/** Of what filters or subscriptions want, bytes. */
export function wantedShares(kind: 'filters' | 'subscriptions'): Shares {
  return new Shares(WANTED_LIMITS, (who, most) =>
    exceeded(`the addresses and topics of ${kind} take too much: those of ${who} may take ${most} bytes`, most),
  )
}

function exceeded(text: string, most: number): RpcError {
  return new RpcError('LIMIT_EXCEEDED', `${text}; try again later`, { info: { most } })
}
