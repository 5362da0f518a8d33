/** The documentation as pages: every link leads somewhere, nothing of the sources is left unread, every method is told of. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { markdownToHtml } from '../../scripts/docs/markdown.ts'
import { allSignatures } from '../../scripts/docs/reference.ts'
import { buildSite } from '../../scripts/docs/site.ts'
import { missingShared, ROOT, sharedPath } from '../support/shared.ts'

const out = mkdtempSync(join(tmpdir(), 'petrel-docs-'))
afterAll(() => rmSync(out, { recursive: true }))
const golden = missingShared('data/golden/nv28') === undefined ? sharedPath('data/golden') : join(out, 'nowhere')

describe('the documentation', () => {
  const pages = new Map<string, string>()
  beforeAll(async () => {
    await buildSite(ROOT, golden, join(out, 'site'))
    for (const name of readdirSync(join(out, 'site'), { recursive: true, encoding: 'utf8' })) {
      if (name.endsWith('.html')) pages.set(name, readFileSync(join(out, 'site', name), 'utf8'))
    }
  })

  it('has a page for README, each document and each namespace', () => {
    const documents = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining(['index.html', ...documents.map((name) => name.replace('.md', '.html'))]),
    )
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining(['Chain', 'Eth', 'Mpool', 'State', 'Wallet', 'Common'].map((name) => `api/${name}.html`)),
    )
  })

  it('has no link that leads nowhere', () => {
    const dead: string[] = []
    for (const [name, html] of pages) {
      for (const [, target = ''] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^[a-z]+:/.test(target)) continue
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? name : join(dirname(name), path)
        const isThere = existsSync(join(out, 'site', file))
        if (!isThere || (anchor !== undefined && !pages.get(file)?.includes(`id="${anchor}"`)))
          dead.push(`${name}: ${target}`)
      }
    }
    expect(dead).toEqual([])
  })

  it('leaves nothing of the sources unread', () => {
    for (const html of pages.values()) {
      const text = html.replace(/<pre>[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>|<style>[\s\S]*?<\/style>/g, '')
      expect(text.match(/^(#{1,6} |```|\||- ).*$|\]\(.*$|\*\*.*$/gm)).toBeNull()
    }
  })

  it('tells of every method, its permission and its types', async () => {
    const all = [...pages]
      .filter(([name]) => name.startsWith('api/'))
      .map(([, html]) => html)
      .join('\n')
    const methods = await allSignatures(join(ROOT, 'src/rpc/signatures'))
    expect(methods.length).toBeGreaterThan(290)
    expect(methods.filter(({ name }) => !all.includes(`<h2 id="${name}">`))).toEqual([])
    expect(pages.get('api/Mpool.html')).toMatch(/<h2 id="MpoolPushMessage">[\s\S]*?permission <code>sign<\/code>/)
  })

  it.skipIf(!existsSync(golden))('shows what Lotus answered', () => {
    const wallet = pages.get('api/Wallet.html') ?? ''
    // As recorded in nv28.
    expect(wallet).toMatch(/<h2 id="WalletValidateAddress">[\s\S]*?&quot;f01&quot;[\s\S]*?← &quot;t01&quot;/)
    expect(pages.get('api/Paych.html')).toContain('No answer was recorded.')
  })
})

describe('Markdown', () => {
  const html = (source: string): string =>
    markdownToHtml(source, (target) => (target === 'x.md' ? 'x.html' : undefined))
  // Expected: what CommonMark 0.31 and GitHub's tables say of these.
  it.each([
    ['a\nb', '<p>a\nb</p>'],
    ['# A `b`\n', '<h1 id="a-b">A <code>b</code></h1>'],
    ['    a < b\n\n    c', '<pre><code>a &lt; b\n\nc</code></pre>'],
    ['```js\n# no heading\n```', '<pre><code># no heading</code></pre>'],
    ['- a\n  b\n- c', '<ul><li>a\nb</li>\n<li>c</li></ul>'],
    ['1. a\n2. b', '<ol><li>a</li>\n<li>b</li></ol>'],
    ['[a **b**](x.md) [c](y.ts)', '<p><a href="x.html">a <strong>b</strong></a> c</p>'],
    [
      '| a | b |\n| --- | --- |\n| `c` | d |',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>c</code></td><td>d</td></tr></tbody></table>',
    ],
    ['**a `b` c**', '<p><strong>a <code>b</code> c</strong></p>'],
    ['`[a](b)` **c**', '<p><code>&#91;a](b)</code> <strong>c</strong></p>'],
  ])('%j', (source, expected) => {
    expect(html(source)).toBe(expected)
  })
})
