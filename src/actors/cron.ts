import { cronState } from '../state/cron.ts'
import { type ConstructorParams, constructorParams } from '../state/params/cron.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { action, command, type NativeActor, nativeActor } from './dispatch.ts'
import { ActorError } from './errors.ts'
import type { Runtime } from './runtime.ts'

function construct(runtime: Runtime, params: ConstructorParams): void {
  runtime.validateCallerIs(SYSTEM_ID)
  runtime.create(cronState, { entries: params.entries })
}

function epochTick(runtime: Runtime): void {
  runtime.validateCallerIs(SYSTEM_ID)
  for (const entry of runtime.state(cronState).entries) {
    try {
      runtime.send(entry.receiver, entry.methodNum, undefined, 0n)
    } catch (error) {
      // One actor's failure must not keep the others from their tick.
      if (!(error instanceof ActorError)) throw error
    }
  }
}

/** The cron actor's methods. */
export function createCronActor(): NativeActor {
  return nativeActor('cron', { Constructor: command(constructorParams, construct), EpochTick: action(epochTick) })
}
