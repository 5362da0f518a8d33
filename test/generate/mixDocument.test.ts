/** docs/measured.md says what generated chains are made of: the parts that the code has, and their shares. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MIX } from '../../scripts/generate/mainnetSize/messages.ts'
import { ROOT } from '../support/shared.ts'

describe('the mix of messages', () => {
  it('stands in the document as it is', () => {
    const text = readFileSync(join(ROOT, 'docs/measured.md'), 'utf8')
    const rows = [...text.matchAll(/^\| `([a-zA-Z]+)` \| .* \| ([\d.]+) \| ([\d.]+) % \| [\d.]+ % \|$/gm)]
    const all = Object.values(MIX).reduce((sum, parts) => sum + parts, 0)
    expect(text).toContain(`Parts of ${all}`)
    expect(Object.fromEntries(rows.map(([, sort, parts]) => [sort, Number(parts)]))).toEqual(MIX)
    for (const [, sort, parts, share] of rows) expect(share, sort).toBe(((100 * Number(parts)) / all).toFixed(1))
  })
})
