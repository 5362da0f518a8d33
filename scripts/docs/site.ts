/** The pages of the documentation: README, docs/*.md, the reference; each with the same navigation. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { escaped, type LinkOf, markdownToHtml } from './markdown.ts'
import { recordedExamples } from './recordedExamples.ts'
import { allSignatures, namesOf, referencePages } from './reference.ts'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:0 1rem;display:grid;grid-template-columns:14rem 1fr;gap:2rem;color:#1d2126;background:#fff}
nav{padding-top:1rem;font-size:.9rem}nav ul{list-style:none;padding:0}nav a{text-decoration:none}main{min-width:0}
pre{background:#f3f5f7;padding:.8rem;overflow-x:auto}code{font-size:.9em}table{border-collapse:collapse}td,th{border:1px solid #c8ccd0;padding:.3rem .6rem;text-align:left;vertical-align:top}
.facts,.none{color:#555}img{max-width:100%}a{color:#0a58a8}
@media(max-width:50rem){body{display:block}}@media(prefers-color-scheme:dark){body{color:#e3e6e8;background:#15181b}pre{background:#22272c}a{color:#7db8f0}.facts,.none{color:#aaa}}`

interface Page {
  /** Path on the site. */
  readonly path: string
  readonly title: string
  readonly html: string
}

const titleOf = (markdown: string, otherwise: string): string => /^# +(.*)$/m.exec(markdown)?.[1] ?? otherwise

/** Where a page of the repository lies on the site; undefined: it is none. */
function sitePath(source: string): string | undefined {
  if (source === 'README.md') return 'index.html'
  return /^docs\/[^/]+\.md$/.test(source) ? source.slice('docs/'.length).replace(/\.md$/, '.html') : undefined
}

/** A link of a page as the site needs it; what is no page of the site is only named. */
function linkFrom(source: string): LinkOf {
  return (target) => {
    if (/^([a-z]+:|#)/.test(target)) return target
    const [path = '', anchor] = target.split('#')
    const meant = posix.normalize(posix.join(posix.dirname(source), path))
    const behind = anchor === undefined ? '' : `#${anchor}`
    if (/^docs\/[^/]+\.png$/.test(meant)) return meant.slice('docs/'.length)
    const page = sitePath(meant)
    return page === undefined ? undefined : page + behind
  }
}

function layout(page: Page, pages: readonly Page[], depth: string): string {
  const entry = ({ path, title }: Page): string => `<li><a href="${depth}${path}">${escaped(title)}</a></li>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(page.title)} – Petrel</title><style>${STYLE}</style></head>
<body><nav aria-label="Pages"><ul>${pages.map(entry).join('\n')}</ul></nav>
<main>
${page.html}
</main></body></html>
`
}

/**
 * Writes the site.
 * @param root - of the repository
 * @param golden - folder of recorded chains
 * @returns how many pages, methods, and methods with an example there are
 */
export async function buildSite(
  root: string,
  golden: string,
  out: string,
): Promise<{ pages: number; methods: number; examples: number }> {
  const sources = [
    'README.md',
    ...readdirSync(join(root, 'docs'))
      .sort()
      .flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ]
  const pages = sources.map((source): Page => {
    const markdown = readFileSync(join(root, source), 'utf8')
    return {
      path: sitePath(source) as string,
      title: titleOf(markdown, source),
      html: markdownToHtml(markdown, linkFrom(source)),
    }
  })
  const methods = await allSignatures(join(root, 'src/rpc/signatures'))
  const examples = recordedExamples(golden)
  const reference = [...referencePages(methods, examples)].map(
    ([space, html]): Page => ({ path: `api/${space}.html`, title: `${space}…`, html }),
  )
  const contents = reference.map(({ path, title }) => `<li><a href="${path.slice('api/'.length)}">${title}</a></li>`)
  const index: Page = {
    path: 'api/index.html',
    title: 'API reference',
    html: `<h1>API reference</h1><p>${methods.length} methods, out of the table that the node serves them by.</p><ul>${contents.join('\n')}</ul>`,
  }
  const listed = [...pages, index]
  rmSync(out, { recursive: true, force: true })
  for (const page of [...listed, ...reference]) {
    const path = join(out, page.path)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, layout(page, listed, page.path.startsWith('api/') ? '../' : ''))
  }
  for (const name of readdirSync(join(root, 'docs')))
    if (name.endsWith('.png')) copyFileSync(join(root, 'docs', name), join(out, name))
  const shown = methods.filter((method) => namesOf(method).some((name) => examples.has(name)))
  return { pages: listed.length + reference.length, methods: methods.length, examples: shown.length }
}
