/** What comments and notes name is there: files of ours by a path that leads to them, and nothing from outside the repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'

/** A path or name of a source, note or folder of ours: `cost.ts`, `rpc/cost.ts`, `docs/sql.md`, `test/contract`. */
const CITED =
  /(?<![\w@:/.*-])(?:(?:\.{1,2}\/)*(?:[\w-]+\/)*[\w.-]+\.(?:ts|md)|(?:docs|test|scripts|platform|examples|deploy)\/[\w/-]+)(?!\w|[*/]|\.\w)/g
/** Of others: `ipfs/specs BITSWAP.md`, `forest docs, snapshot_service.md`. */
const OF_OTHERS = /\b(?:(?:ipfs|libp2p)\/specs|forest docs,) $/
/** What only some machines have. */
const OUTSIDE = /\.\.\/shared|\breference\/|\bdata\/(?:golden|genesis|snapshots|networks|vectors)|\bgolden\/nv\d/

/** The text of a line that is a comment or ends in one; all of it in a note. */
function commentOf(line: string, file: string): string {
  if (file.endsWith('.md') || /^\s*(?:\/\*|\*|\/\/)/.test(line)) return line
  return /\s(\/\/ .*|\/\*\* .*)$/.exec(line)?.[1] ?? ''
}

/** Seen from the file, from a folder above it, or from `src` or `platform`. */
function leadsToFile(cited: string, from: string): boolean {
  const starts = ['src', 'platform']
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    starts.push(folder)
    if (folder === '.') break
  }
  return starts.some((start) => existsSync(join(ROOT, normalize(join(start, cited)))))
}

function wrongIn(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, at) => {
    const comment = commentOf(line, file)
    const wrong = [...comment.matchAll(CITED)]
      .filter(({ index }) => !OF_OTHERS.test(comment.slice(0, index)))
      .map(([cited]) => cited)
      .filter((cited) => !leadsToFile(cited, file))
    if (OUTSIDE.test(comment)) wrong.push(comment.trim())
    return wrong.map((cited) => `${file}:${at + 1}: ${cited}`)
  })
}

function filesOf(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((file) => /\.(?:ts|js|md)$/.test(file) && !/\/node_modules\//.test(file)),
  )
}

describe('citations', () => {
  it('in comments and notes of src and platform lead to files of the repository', () => {
    const files = filesOf('src', 'platform')
    const cited = files.flatMap((file) => readFileSync(join(ROOT, file), 'utf8').match(CITED) ?? [])
    expect(cited.length).toBeGreaterThan(100)
    expect(files.flatMap((file) => wrongIn(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
  })

  it('that lead nowhere are found', () => {
    const text = [
      '/** See codec.ts, rpc/cost.ts, src/rpc/cost.ts, docs/sql.md, test/contract. @see ipfs/specs BITSWAP.md; lotus api/types.go */',
      '// noSuch.ts',
      "const own = 'noSuch.ts' // docs/noSuch.md",
      ' * test/noSuch; ../codec/codec.ts',
      '/** reference/consensus.md section 5 */',
    ].join('\n')
    expect(wrongIn('src/codec/codec.ts', text)).toEqual([
      'src/codec/codec.ts:2: noSuch.ts',
      'src/codec/codec.ts:3: docs/noSuch.md',
      'src/codec/codec.ts:4: test/noSuch',
      'src/codec/codec.ts:5: reference/consensus.md',
      'src/codec/codec.ts:5: /** reference/consensus.md section 5 */',
    ])
  })
})
