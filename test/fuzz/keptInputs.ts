/** What is kept of each target in the repository: inputs that each went a way of its own. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex, toHex } from '../../src/base/bytes.ts'

/** Inputs of a target, and bytes each. */
const CORPUS_INPUTS = 40
const CORPUS_BYTES = 200
const CORPUS = join(import.meta.dirname, 'corpus')

/** The kept inputs of a target. */
export function readCorpus(name: string): Uint8Array[] {
  const path = join(CORPUS, `${name}.txt`)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(fromHex)
}

/** Keeps the short ones of a target's inputs, in place of what was kept before. */
export function keepCorpus(name: string, inputs: readonly Uint8Array[]): void {
  mkdirSync(CORPUS, { recursive: true })
  const small = inputs.filter(({ length }) => length > 0 && length <= CORPUS_BYTES).slice(0, CORPUS_INPUTS)
  writeFileSync(join(CORPUS, `${name}.txt`), `${small.map(toHex).join('\n')}\n`)
}
