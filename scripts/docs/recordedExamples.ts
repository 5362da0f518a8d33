/** One answer of Lotus for each method, out of the recorded chains; none where they are not on this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'

/** A question with its answer. */
export interface Example {
  /** Where it was recorded. */
  readonly chain: string
  readonly params: Json
  readonly result: Json
}

/** By the full name of the method. */
export type Examples = ReadonlyMap<string, Example>

/** Recordings, the one that is looked at first before the others. */
const RECORDINGS = ['nv28/chain', 'nv28/session', 'live/chain', 'f3/f3', 'f3/chain']
/** An answer of this many characters shows what there is to see. */
const TELLING = 12

/** How much a line shows: an answer that is there, and is short. */
function lengthOf(line: string): number {
  const at = line.indexOf('"result":')
  if (at < 0 || /^"result":(null|\[\]|\{\})/.test(line.slice(at, at + 14))) return Number.POSITIVE_INFINITY
  return line.length - at < TELLING ? Number.MAX_SAFE_INTEGER : line.length
}

/** @param folder - of the recorded chains */
export function recordedExamples(folder: string): Examples {
  const lines = new Map<string, { readonly chain: string; readonly line: string; readonly length: number }>()
  for (const recording of RECORDINGS) {
    const path = join(folder, `${recording}.jsonl.zst`)
    if (!existsSync(path)) continue
    for (const line of zstdDecompressSync(readFileSync(path)).toString('utf8').split('\n')) {
      const name = /"method":"([^"]+)"/.exec(line)?.[1]
      const length = lengthOf(line)
      if (name === undefined || length === Number.POSITIVE_INFINITY) continue
      const known = lines.get(name)
      const chain = recording.split('/')[0] as string
      // The shortest of the first recording that has one.
      if (known === undefined || (known.chain === chain && length < known.length))
        lines.set(name, { chain, line, length })
    }
  }
  return new Map([...lines].map(([name, { chain, line }]) => [name, exampleOf(chain, line)]))
}

function exampleOf(chain: string, line: string): Example {
  const row = parseJson(line) as unknown as { request: { params?: Json }; response: { result: Json } }
  return { chain, params: row.request.params ?? [], result: row.response.result }
}
