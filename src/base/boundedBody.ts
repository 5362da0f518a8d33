/** The body of an answer over HTTP, of which no more is read than what may be there. */
import { concatBytes } from './bytes.ts'

/** The part of a response's body that is needed. */
export interface BodyLike {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
    cancel(): Promise<void>
  }
}

/** @returns the body; undefined: it is longer than `most` bytes, and the rest is not read */
export async function bodyUpTo(body: BodyLike | null, most: number): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array(0)
  const reader = body.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return concatBytes(...parts)
    if (value === undefined) continue
    length += value.length
    if (length > most) {
      // Whether the connection ends well is of no interest: nobody reads it any more.
      reader.cancel().catch(() => undefined)
      return undefined
    }
    parts.push(value)
  }
}
