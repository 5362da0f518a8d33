/** How far a state is, on disk: where a run that was broken off goes on. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'progress.json'
/** Of the form, and of what is generated: another one begins anew. */
const VERSION = 1

/** What of a run is whole. */
export interface Progress {
  readonly scale: number
  readonly seed: number
  /** The step that is under way, and how much of it is done. */
  readonly step: number
  readonly done: number
  /** Bytes and blocks of the body that count. */
  readonly bytes: number
  readonly blocks: number
  /** What steps leave for those after them: JSON without numbers above 2^53. */
  readonly results: { readonly [name: string]: unknown }
}

/** The start of a run. */
export function noProgress(scale: number, seed: number): Progress {
  return { scale, seed, step: 0, done: 0, bytes: 0, blocks: 0, results: {} }
}

/** @returns undefined when nothing of this run is there */
export function readProgress(folder: string, scale: number, seed: number): Progress | undefined {
  const path = join(folder, FILE)
  if (!existsSync(path)) return undefined
  const { version, ...progress } = JSON.parse(readFileSync(path, 'utf8')) as Progress & { version: number }
  return version === VERSION && progress.scale === scale && progress.seed === seed ? progress : undefined
}

/** Whole or not at all. */
export function writeProgress(folder: string, progress: Progress): void {
  const path = join(folder, FILE)
  writeFileSync(`${path}.new`, JSON.stringify({ version: VERSION, ...progress }))
  renameSync(`${path}.new`, path)
}
