/** What a process of a soak takes, each kind of memory for itself, and how fast that grows. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeProcess } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { liveHeaps } from './heap.ts'

/** Kinds of memory, MB. */
export interface Memory {
  /** Pages of its own (RssAnon), which the system can't take back, after a collection. */
  readonly own: number
  /** Pages of files (RssFile): the store's, which LMDB maps, and programs. The system takes them back when it needs them. */
  readonly files: number
  /** Objects that are alive, of all threads. */
  readonly heap: number
  /** What they point to outside of the heap. */
  readonly external: number
}

/** What a process takes at a moment. */
export interface Sample {
  readonly minutes: number
  readonly memory: Memory
  readonly handles: number
  readonly diskMb?: number
  readonly head: number
}

/** Epochs of mainnet's hour. */
const HOUR_EPOCHS = 120
/** Epochs of an hour of 0.3 s blocks: seven of them are as many as mainnet's month. */
const FAST_HOUR_EPOCHS = 12_000
/** By then caches are full, and so many looks show a slope. */
const FIRST_MINUTES = 60
const LEAST_LATE = 20
export const MEBI = 1024 * 1024

/** A figure of `/proc/<pid>/status`, MB. */
export function statusMb(pid: number | string, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
}

function diskBytes(path: string): number {
  let bytes = 0
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}

/** Of a node that was started with an inspector. @param began - of the soak, Unix time, ms */
export async function sampleOf(node: NodeProcess, home: string, began: number): Promise<Sample> {
  const { heap, external } = await liveHeaps(node)
  // After the collection that this asked for: garbage comes and goes by more than a slope shows.
  const [own, files] = [statusMb(node.pid, 'RssAnon'), statusMb(node.pid, 'RssFile')]
  const { Height: head } = await new RpcClient(node.url).call('ChainHead')
  return {
    minutes: (Date.now() - began) / 60_000,
    memory: { own, files, heap: heap / MEBI, external: external / MEBI },
    handles: readdirSync(`/proc/${node.pid}/fd`).length,
    diskMb: diskBytes(home) / MEBI,
    head,
  }
}

/** Least squares. */
function slope(samples: readonly Sample[], x: (at: Sample) => number, y: (at: Sample) => number): number {
  const mean = (of: (at: Sample) => number): number => samples.reduce((sum, at) => sum + of(at), 0) / samples.length
  const [midX, midY] = [mean(x), mean(y)]
  const above = samples.reduce((sum, at) => sum + (x(at) - midX) * (y(at) - midY), 0)
  const below = samples.reduce((sum, at) => sum + (x(at) - midX) ** 2, 0)
  return below === 0 ? 0 : above / below
}

/** What came after the first hour since the start; where that is too little, after the first third. */
function late(samples: readonly Sample[]): readonly Sample[] {
  const from = (samples[0]?.minutes ?? 0) + FIRST_MINUTES
  const after = samples.filter(({ minutes }) => minutes >= from)
  return after.length >= LEAST_LATE ? after : samples.slice(Math.floor(samples.length / 3))
}

/** How fast each kind of memory, handles and disk grew when caches were full, by epochs and by the clock. */
export function growth(samples: readonly Sample[]): string {
  const seen = late(samples)
  const of = (kind: string, unit: string, size: (at: Sample) => number): string => {
    const epoch = slope(seen, ({ head }) => head, size)
    const hour = slope(seen, ({ minutes }) => minutes / 60, size)
    const fast = `${(epoch * FAST_HOUR_EPOCHS).toFixed(1)}${unit} for ${FAST_HOUR_EPOCHS} epochs`
    return `${kind} ${fast} (${(epoch * HOUR_EPOCHS).toFixed(2)} for ${HOUR_EPOCHS}; ${hour.toFixed(1)} an hour)`
  }
  const kinds = Object.keys(samples[0]?.memory ?? {}) as (keyof Memory)[]
  return [
    `from minute ${seen[0]?.minutes.toFixed(0)} on ${kinds.map((kind) => of(kind, ' MB', ({ memory }) => memory[kind])).join(', ')}`,
    of('handles', '', ({ handles }) => handles),
    ...(samples[0]?.diskMb === undefined ? [] : [of('disk', ' MB', ({ diskMb }) => diskMb ?? 0)]),
  ].join(', ')
}

/** A sample in words. @param since - the sample that it is compared with */
export function inWords({ memory, handles, diskMb }: Sample, since?: Sample): string {
  const kind = (name: string, value: number | undefined, before: number | undefined): string[] => {
    if (value === undefined) return []
    const more = value - (before ?? value)
    return [`${name} ${value.toFixed(0)}${since === undefined ? '' : ` (${more < 0 ? '' : '+'}${more.toFixed(1)})`}`]
  }
  const { own, files, heap, external } = memory
  return [
    ...kind('own', own, since?.memory.own),
    ...kind('files', files, since?.memory.files),
    ...kind('heap', heap, since?.memory.heap),
    ...kind('external', external, since?.memory.external),
    ...kind('handles', handles, since?.handles),
    ...kind('disk', diskMb, since?.diskMb),
  ].join(', ')
}
