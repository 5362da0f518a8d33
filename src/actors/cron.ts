/**
 * The cron actor: calls the actors that want to be called at the end of every epoch.
 * @see builtin-actors v18 actors/cron/src/lib.rs
 */
import { type Codec, list, tuple } from '../codec/description.ts'
import { type CronEntry, cronEntry, cronState } from '../state/cron.ts'
import { SYSTEM_ID } from '../types/singletons.ts'
import { action, command, type NativeActor } from './dispatch.ts'
import { ActorError } from './errors.ts'
import type { Runtime } from './runtime.ts'

interface ConstructorParams {
  readonly entries: CronEntry[]
}

const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('cron.ConstructorParams', [
  ['entries', 'Entries', list(cronEntry)],
])

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
  return {
    kind: 'cron',
    methods: new Map([
      [1n, command(constructorParams, construct)],
      [2n, action(epochTick)],
    ]),
  }
}
