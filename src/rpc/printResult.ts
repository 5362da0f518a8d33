/** The text of a result, in steps: a long answer takes longer to print than others may wait. */
import { MAX_ANSWER_BYTES } from '../base/bounds.ts'
import type { Steps } from '../base/steps.ts'
import type { Codec, JsonContext } from '../codec/description.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import { shapeOf } from '../codec/structJson.ts'
import { RpcError } from './errors.ts'

/** Values that are printed in one step: an item of a list each, or a struct. */
const STEP_VALUES = 64
/** About as many bytes of them: a millisecond's work. */
const STEP_BYTES = 65_536

/** @param bytes - in words */
export function answerTooLong(bytes: string): RpcError {
  return new RpcError('FAILED', `the answer has ${bytes} bytes, at most ${MAX_ANSWER_BYTES} are sent`)
}

/** Lists, and what is in them, that a value consists of; counted to where it is known to be too many for a step. */
function weightOf(codec: Codec<unknown>, value: unknown): number {
  let weight = 1
  if (Array.isArray(value)) {
    const { items } = codec
    for (let i = 0; items !== undefined && i < value.length && weight <= STEP_VALUES; i++) {
      weight += weightOf(items, value[i])
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const { key, codec: inner } of shapeOf(codec)?.lists ?? []) {
      if (weight <= STEP_VALUES) weight += weightOf(inner, (value as Record<string, unknown>)[key])
    }
  }
  return weight
}

class ResultText {
  readonly #parts: string[] = []
  readonly #json: JsonContext
  #bytes = 0

  constructor(json: JsonContext) {
    this.#json = json
  }

  /** @throws RpcError where it is too long, before it is all in memory */
  #add(text: string): void {
    this.#parts.push(text)
    this.#bytes += text.length
    if (this.#bytes > MAX_ANSWER_BYTES) throw answerTooLong(`more than ${MAX_ANSWER_BYTES}`)
  }

  *print(codec: Codec<unknown>, value: unknown): Steps<void> {
    const { items } = codec
    const shape = shapeOf(codec)
    const isLong = weightOf(codec, value) > STEP_VALUES
    if (isLong && items !== undefined) yield* this.#printList(items, value as readonly unknown[])
    else if (isLong && shape !== undefined) {
      const form = shape.of(value)
      for (const { key, before, codec: inner } of shape.fields) {
        this.#add(before)
        yield* this.print(inner, form[key])
      }
      this.#add('}')
    } else this.#add(stringifyJson(codec.toJson(value, this.#json)))
  }

  *#printList(items: Codec<unknown>, value: readonly unknown[]): Steps<void> {
    const start = this.#bytes
    const average = (at: number): number => (this.#bytes - start) / Math.max(1, at)
    for (let at = 0; at < value.length; ) {
      this.#add(at === 0 ? '[' : ',')
      if (weightOf(items, value[at]) > STEP_VALUES) yield* this.print(items, value[at++])
      else {
        const from = at
        // The first is alone: of the others it is known then how long they are, about.
        const most = from === 0 ? 1 : STEP_BYTES / average(from)
        for (let weight = 0; at < value.length && at - from < Math.max(1, most); at++) {
          weight += weightOf(items, value[at])
          if (weight > STEP_VALUES) break
        }
        this.#add(stringifyJson(value.slice(from, at).map((item) => items.toJson(item, this.#json))).slice(1, -1))
      }
      yield
    }
    this.#add(']')
  }

  take(): string {
    return this.#parts.join('')
  }
}

/** The same text as that of the whole at once. @throws RpcError `FAILED` where it is longer than answers may be */
export function* printResult(codec: Codec<unknown>, value: unknown, json: JsonContext): Steps<string> {
  const text = new ResultText(json)
  yield* text.print(codec, value)
  return text.take()
}
