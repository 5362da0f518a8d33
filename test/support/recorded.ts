/** Lines of a recorded `*.jsonl.zst` of a golden chain. */
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import { readSharedUnpacked } from './shared.ts'

/** JSON object with exact integers. */
export type Row = { [key: string]: Json }

/** Text of a zstd-compressed shared file. */
export function readSharedZstd(path: string): string {
  return new TextDecoder().decode(readSharedUnpacked(path))
}

/** One recorded request with its answer. */
export interface RecordedCall {
  readonly path: string
  readonly method: string
  readonly params: Json[]
  readonly response: Row
}

/** The calls of `data/golden/<chain>/<file>` whose method is in `methods`. */
export function recordedCalls(chain: string, file: string, methods: readonly string[]): RecordedCall[] {
  const out: RecordedCall[] = []
  for (const line of readSharedZstd(`data/golden/${chain}/${file}`).split('\n')) {
    // Cheap test before parsing: the files are tens of megabytes.
    if (!methods.some((method) => line.includes(`"${method}"`))) continue
    const row = parseJson(line) as Row
    const request = row.request as Row
    const method = request.method as string
    if (!methods.includes(method)) continue
    out.push({
      path: row.path as string,
      method,
      params: (request.params ?? []) as Json[],
      response: row.response as Row,
    })
  }
  return out
}
