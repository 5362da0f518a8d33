/** Names say what a thing is: no variable, function or parameter is called `one`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'
import { sourceFiles } from './imports.ts'

const NOT_CODE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g

/** Where a binding stands: after a keyword, in a list of parameters, in what is taken apart. */
const BOUND = /\b(?:const|let|function)\s+one\b|[[(,]\s*one\s*[,)\]=]|[(,]\s*one\s*\??:\s|[{:]\s*one\s*[,}]|\bone\s*=>/

/** A column of a table, in SQL. */
const COLUMNS = ['platform/server/index/migrations.ts']

function bindsOne(text: string): boolean {
  return BOUND.test(text.replace(NOT_CODE, ''))
}

describe('names', () => {
  it('nothing is called one', () => {
    const files = ['src', 'platform', 'examples', 'scripts'].flatMap(sourceFiles)
    expect(files.length).toBeGreaterThan(500)
    const wrong = files.filter((file) => bindsOne(readFileSync(join(ROOT, file), 'utf8')))
    expect(wrong).toEqual(COLUMNS)
  })

  it.each([
    'const one = 1',
    'for (const one of all) use(one)',
    'all.map((one) => one.key)',
    'all.map((one, i) => i)',
    'const f = (a: string, one: Cid): void => use(one)',
    'function f(\n  one: Cid,\n) {}',
    'const [a, one] = pair',
    'const { cid: one, next } = read()',
    'const { one } = given',
  ])('the search finds %j', (text) => {
    expect(bindsOne(text)).toBe(true)
  })

  it.each([
    'engine.copy(out, engine.one, 6)',
    '// the one, the other\nf()',
    "f('(one, two)')",
    'const oneOf = f(every.one)',
    'interface Group { readonly one: bigint }',
  ])('the search leaves %j alone', (text) => {
    expect(bindsOne(text)).toBe(false)
  })
})
