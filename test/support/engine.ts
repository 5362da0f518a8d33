/** What the runtime of a test cannot do. */

/**
 * A browser's worker, whose stack cannot be set, holds about 485 nested calls of actors; Node's threads hold the 1,024 that
 * the machine allows. Running out is a failure of the host (`undecided`), so tests of the limit itself run in Node.
 */
export const hasShortStack: boolean = !('process' in globalThis)
