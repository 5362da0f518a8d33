/** Every bound stands in the table of docs/bounds.md with its value, and is named by a test that takes it from where it stands. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HOST_LIMITS } from '../../src/p2p/host/hostLimits.ts'
import { ROOT } from '../support/shared.ts'

/** Work is cut up by these, so that others have their turn: they bound nothing that others could send. */
const PACE: ReadonlySet<string> = new Set(['STRETCH_MS'])
/** A value of more parts has a row for each. */
const MOST_PARTS = 8

const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /(^|\/)(bounds|limits|hostLimits)\.ts$/.test(path))
  .map((path) => `src/${path}`)
const document = readFileSync(join(ROOT, 'docs/bounds.md'), 'utf8')
/** What tests say, by their paths in the folder of tests. */
const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => [path, readFileSync(join(ROOT, 'test', path), 'utf8')] as const)

async function boundsOf(file: string): Promise<[name: string, value: unknown][]> {
  const module = (await import(join(ROOT, file))) as Record<string, unknown>
  return Object.entries(module).filter(([, value]) => typeof value !== 'function')
}

/** The part of the document that tells of a file. */
function sectionOf(file: string): string {
  const from = document.indexOf(`\n\`${file}\`\n`)
  const end = document.indexOf('\n## ', from + 1)
  return from < 0 ? '' : document.slice(from, end < 0 ? undefined : end)
}

function isParts(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parts of a value by their names. */
function partsOf(value: unknown, name = ''): string[] {
  if (!isParts(value)) {
    const text = [value].flat().map((item) => (item as number | bigint).toLocaleString('en'))
    return [`${name} ${text.join(', ')}`.trim()]
  }
  return Object.entries(value).flatMap(([part, own]) => partsOf(own, name === '' ? part : `${name}.${part}`))
}

/** Rows that the document must have for a bound, from its name on. */
function rowsOf(name: string, value: unknown): string[] {
  if (name === 'COST_LIMITS') {
    return Object.entries(value as Record<string, Record<string, number>>).map(([kind, limits]) => {
      return `| \`${kind}\` | ${Object.values(limits)
        .map((limit) => limit.toLocaleString('en'))
        .join(' | ')} |`
    })
  }
  const parts = partsOf(value)
  if (!isParts(value) || parts.length <= MOST_PARTS) return [`| \`${name}\` | ${parts.join(', ')} |`]
  return Object.entries(value).map(([part, own]) => `| \`${name}.${part}\` | ${partsOf(own).join(', ')} |`)
}

/** Names that tests import, by the file that they import them from. */
function importedByTests(): Map<string, Set<string>> {
  const imported = new Map<string, Set<string>>()
  for (const [path, text] of tests) {
    for (const [, list = '', from = ''] of text.matchAll(/import (\{[^}]*\}|\* as \w+) from '(\.[^']*)'/g)) {
      const file = relative(ROOT, resolve(ROOT, 'test', dirname(path), from))
      const names = imported.get(file) ?? new Set()
      imported.set(file, names)
      const whole = /\* as (\w+)/.exec(list)?.[1]
      const own = whole === undefined ? list.matchAll(/\w+/g) : text.matchAll(new RegExp(`\\b${whole}\\.(\\w+)`, 'g'))
      for (const match of own) names.add(match.at(-1) as string)
    }
  }
  return imported
}

/** Parts of a bound that tests take from it, by its name: `BOUND.part`, or `const { part, other } = BOUND`. */
function triedParts(bound: string): Set<string> {
  const tried = new Set<string>()
  for (const [, text] of tests) {
    for (const [, part = ''] of text.matchAll(new RegExp(`\\b${bound}\\.(\\w+)`, 'g'))) tried.add(part)
    for (const [, parts = ''] of text.matchAll(new RegExp(`\\{([^{}]*)\\} = ${bound}\\n`, 'g'))) {
      for (const part of parts.match(/\w+/g) ?? []) tried.add(part)
    }
  }
  return tried
}

it('finds the files of bounds', () => {
  expect(files.length).toBeGreaterThan(8)
  expect(
    document
      .match(/^`src\/.*`$/gm)
      ?.map((line) => line.slice(1, -1))
      .sort(),
  ).toEqual(files.toSorted())
})

describe.each(files)('%s', (file) => {
  it('stands in the document, each bound with its value', async () => {
    const section = sectionOf(file)
    const rows = (await boundsOf(file)).flatMap(([name, value]) => rowsOf(name, value))
    expect(rows.length).toBeGreaterThan(4)
    expect(rows.filter((row) => !section.includes(row))).toEqual([])
    // And nothing else does.
    expect(section.match(/^\| .*\d .*\|$/gm)?.length).toBeGreaterThanOrEqual(rows.length)
    const known = new Set((await boundsOf(file)).map(([name]) => name))
    const told = [...section.matchAll(/\| `([A-Z][A-Z0-9_]+)(?:\.\w+)?` \|/g)].map(([, name]) => name as string)
    expect(told.filter((name) => !known.has(name))).toEqual([])
  })

  it('is tried: a test names each bound', async () => {
    const names = (await boundsOf(file)).map(([name]) => name)
    const tried = importedByTests().get(file) ?? new Set()
    expect(names.filter((name) => !tried.has(name) && !PACE.has(name))).toEqual([])
  })
})

it('a host’s bounds are tried: a test takes each of them, not only what holds them all', () => {
  const tried = triedParts('HOST_LIMITS')
  expect(Object.keys(HOST_LIMITS).filter((part) => !tried.has(part))).toEqual([])
})
