/** Targets with faults, each of its own kind: what watches the fuzzer's threads has to name them, and to go on. */
import type { FuzzTarget } from './fuzzTarget.ts'

/** The input that each of them fails at. */
export const FAULTY_INPUT: Uint8Array = Uint8Array.of(1, 2, 3)

const faulty = (run: FuzzTarget['run']): FuzzTarget => ({
  seeds: () => [Uint8Array.of(9), FAULTY_INPUT],
  run: (input) => (input[0] === FAULTY_INPUT[0] ? run(input) : undefined),
})

/** In the order in which they are run. */
export const TARGETS: Readonly<Record<string, FuzzTarget>> = {
  endless: faulty(() => {
    for (;;);
  }),
  waiting: faulty(() => new Promise<void>(() => undefined)),
  // Something else is still to come, for ever: the thread does not end by itself.
  busy: faulty(async () => {
    const timer = setInterval(() => undefined, 1000)
    await new Promise<void>(() => timer.ref())
  }),
  dying: faulty(() => process.exit(3)),
  unawaited: faulty(() => void Promise.reject(new Error('nobody hears it'))),
  well: { seeds: () => [FAULTY_INPUT], run: () => undefined },
}
