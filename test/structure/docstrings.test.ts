/** Who hovers over an export learns what it is (CONTRIBUTING): a docstring, and none that sends the reader elsewhere. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'
import { exportsOf } from './docstrings.ts'

function sources(...folders: readonly string[]): (readonly [file: string, text: string])[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .filter((file) => /\.[jt]s$/.test(file) && !/\/node_modules\//.test(file))
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')])
}

describe('docstrings', () => {
  const exported = sources('src', 'platform').flatMap(([file, text]) =>
    exportsOf(text).map((found) => ({ file, ...found })),
  )

  it('every export has one', () => {
    const bare = exported.filter(({ isDocumented }) => !isDocumented)
    expect(bare.map(({ file, name }) => `${file}: ${name}`)).toEqual([])
    expect(exported.length).toBeGreaterThan(4000)
  })

  it('none only points to the head of its file', () => {
    const pointing = sources('src', 'platform', 'examples', 'scripts', 'test').filter(([, text]) =>
      /[Ss]ee the file's comment/.test(text),
    )
    expect(pointing.map(([file]) => file)).toEqual([])
  })

  it('an export without one is found', () => {
    const source = `/** A head. */
import { a } from './a.ts'

export const bare = 1
/** Said. */
export interface Said {}

export const said: Codec<Said> = a
export const saidAt: (version: number) => Codec<Said> = a
export const said2 = 2

/** A table. */
export const FIRST = 1
const OWN = 2
export const LAST = 3

export const LONELY = 4
export abstract class Bare {}
/** One form. */
export function form(a: string): void
export function form(a: number): void
export async function* bareSteps() {}

export const row: CallSignature<[], Said> =
  callSignature({
    name: 'Row',
    summary: 'What it does.',
  })
export const silentRow = callSignature({
  name: 'SilentRow',
  summary: '',
})

const other = callSignature({
  summary: 'Of another.',
})
`
    const found = exportsOf(source)
    expect(found).toHaveLength(14)
    expect(found.filter(({ isDocumented }) => !isDocumented).map(({ name }) => name)).toEqual([
      'bare',
      'said2',
      'LONELY',
      'Bare',
      'bareSteps',
      'silentRow',
    ])
  })
})
