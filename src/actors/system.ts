import { manifestEntries } from '../state/manifest.ts'
import { systemState } from '../state/system.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { action, type NativeActor, nativeActor } from './dispatch.ts'
import type { Runtime } from './runtime.ts'

function construct(runtime: Runtime): void {
  runtime.validateCallerIs(SYSTEM_ID)
  runtime.create(systemState, { builtinActors: runtime.putCbor(manifestEntries, []) })
}

/** The system actor's methods. */
export function createSystemActor(): NativeActor {
  return nativeActor('system', { Constructor: action(construct) })
}
