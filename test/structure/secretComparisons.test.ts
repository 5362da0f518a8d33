/**
 * How long a comparison with a secret takes says nothing of how much of it was right: no `===`, `equalBytes` or `startsWith`, which end at
 * the first difference.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'
import { sourceFiles } from './imports.ts'

/** Files that hold what a stranger gives against a secret, and what they do it with. */
const COMPARING: Readonly<Record<string, RegExp>> = {
  // A token's HMAC.
  'src/rpc/tokens.ts': /\bequalInConstantTime\(given, hmacSha256\(/,
  // What the threads of the process are known by.
  'platform/server/httpServer.ts': /\btimingSafeEqual\(given, expected\)/,
}
/** Names that are none of a secret: marks of who may change a node in place. */
const MARKS: readonly string[] = ['src/ipld/amt.ts', 'src/ipld/hamt.ts']

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
const TEXT = /'(?:\\.|[^'\\\n])*'/g
const OPERAND = "[\\w.#?!()[\\]'-]+"
const COMPARISON = new RegExp(`(${OPERAND})\\s+[!=]==?\\s+(${OPERAND})`, 'g')
/** Nothing that anybody could guess: a constant, a kind, a length. */
const HARMLESS = /^\(*(?:undefined|null|true|false|''|-?\d+)\)*$|\.length\)*$/
const SECRET = /(?:^|[.#?a-z])(?:secret|token|passphrase|password|bearer|hmac)s?(?:[!?)]*)$/i
/** Of a secret as a whole, or with it. */
const LOOK = /\b(?:equalBytes|compareBytes|startsWith|endsWith|includes|indexOf|localeCompare)\(([^()]*)\)/g

/** Comparisons that are not with a constant, and looks at parts: their operands. */
function comparisons(text: string): string[][] {
  const code = text.replace(COMMENT, '').replace(TEXT, "''")
  const pairs = [...code.matchAll(COMPARISON)].map(([, a = '', b = '']) => [a, b])
  const looks = [...code.matchAll(LOOK)].map(([, given = '']) => given.split(/,\s*/))
  return [...pairs.filter((pair) => !pair.some((operand) => HARMLESS.test(operand))), ...looks]
}

function comparesSecrets(text: string): boolean {
  // A constant such as the scheme's name is none.
  return comparisons(text).some((operands) => operands.some((name) => SECRET.test(name) && name !== name.toUpperCase()))
}

describe('secrets', () => {
  const files = ['src', 'platform'].flatMap(sourceFiles)
  const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

  it('are compared nowhere but where it takes the same time', () => {
    expect(files.length).toBeGreaterThan(500)
    expect(files.filter((file) => comparesSecrets(textOf(file)))).toEqual(MARKS)
  })

  it.each(Object.entries(COMPARING))('%s compares in constant time, and nothing else', (file, how) => {
    const text = textOf(file)
    expect(text).toMatch(how)
    expect(comparisons(text)).toEqual([])
  })

  it('nobody else makes what a stranger’s would be held against', () => {
    const making = files.filter((file) =>
      /\b(?:hmacSha256|createHmac|timingSafeEqual)\(/.test(textOf(file).replace(COMMENT, '')),
    )
    expect(making).toEqual([
      ...['src/crypto/hashes.ts', 'src/rpc/tokens.ts'],
      ...['platform/cli/webhook.ts', 'platform/server/httpServer.ts', 'platform/server/instrumentedFiles.ts'],
    ])
  })

  it.each([
    'if (token === this.#token) return',
    'return given !== secret',
    'a.passphrase == b',
    'equalBytes(given, this.#deps.secret)',
    'header.startsWith(expectedToken)',
    'valid.includes(token)',
  ])('the search finds %j', (text) => {
    expect(comparesSecrets(text)).toBe(true)
  })

  it.each([
    'if (token === undefined) return',
    "if ('' === secret || typeof token === 'string') return",
    'secret.length === given.length',
    '// token === given\nf()',
    'header.startsWith(BEARER)',
    "pair.startsWith('token=')",
  ])('the search leaves %j alone', (text) => {
    expect(comparesSecrets(text)).toBe(false)
  })
})
