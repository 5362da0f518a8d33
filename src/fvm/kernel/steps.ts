/**
 * Calls in steps. What the machine does around an actor's code is a generator that hands out the code to run and is told
 * how it ended. Whoever drives it may run the code from its own frame, so that a nested call leaves one host frame on the
 * engine's stack and not all of the machine's.
 */
import type { ActorRun, BlockHandle, Steps } from './kernel.ts'

/** Drives a call to its end, running each actor's code from here. */
export function runSteps<T>(steps: Steps<T>): T {
  let step = steps.next()
  while (step.done !== true) step = advance(steps, step.value)
  return step.value
}

/** Runs one actor's code the ordinary way and goes on. */
export function advance<T>(steps: Steps<T>, { code, kernel, params }: ActorRun): IteratorResult<ActorRun, T> {
  let handle: BlockHandle
  try {
    handle = code.invoke(kernel, params)
  } catch (error) {
    return steps.throw(error)
  }
  return steps.next(handle)
}
