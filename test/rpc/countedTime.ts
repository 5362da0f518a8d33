import { FakeTime } from '../support/fakeTime.ts'

/** Time that the test moves, which counts the turns of the loop that were asked for. */
export class CountedTime extends FakeTime {
  turns = 0

  override setTimeout(run: () => void, ms: number): () => void {
    if (ms === 0) this.turns++
    return super.setTimeout(run, ms)
  }
}
