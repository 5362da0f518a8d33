/** Run by Deno: prints how deep an actor can call itself in a thread of the machine. */
import { callOf, nestedCalls, openRecordedMachine, RECURSING_ACTOR } from './recordedMachine.ts'

const machine = openRecordedMachine('nv28-depth', 'memory')
const { executionTrace } = await machine.host.call(callOf(RECURSING_ACTOR), machine.withActors)
console.log(nestedCalls(executionTrace))
await machine.close()
