import type { ActorEvent } from '../types/event.ts'

/**
 * Events of one message, those of failed calls dropped.
 * @see ref-fvm fvm/src/call_manager/default.rs EventsAccumulator
 */
export class EventLog {
  readonly events: ActorEvent[] = []
  readonly #marks: number[] = []

  begin(): void {
    this.#marks.push(this.events.length)
  }

  end(revert: boolean): void {
    const mark = this.#marks.pop() as number
    if (revert) this.events.length = mark
  }

  append(event: ActorEvent): void {
    this.events.push(event)
  }
}
