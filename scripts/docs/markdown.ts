/**
 * Markdown as README and docs use it, to HTML: headings, paragraphs, lists, tables, code (indented and fenced), quotes, links,
 * images, bold, code in a line. What it does not know stays text; a test looks for what was left.
 */

/** Text for HTML. */
export function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\- _]/gu, '')
  return words.replace(/ /g, '-')
}

/** Where a link of the source leads on the site; undefined: nowhere, its label stays. */
export type LinkOf = (target: string) => string | undefined

function inline(text: string, linkOf: LinkOf): string {
  const image = (_: string, alt: string, target: string): string =>
    `<img src="${linkOf(target) ?? target}" alt="${alt}">`
  const link = (_: string, label: string, target: string): string => {
    const to = linkOf(target)
    return to === undefined ? label : `<a href="${to}">${label}</a>`
  }
  // Nothing in code is anything else; labels and what is bold may hold code.
  const parts = text.split(/(`+[^`]+`+)/).map((part, i) => {
    if (i % 2 === 0) return escaped(part)
    const code = escaped(part.replace(/^`+|`+$/g, ''))
    return `<code>${code.replace(/\[/g, '&#91;').replace(/\*/g, '&#42;')}</code>`
  })
  return parts
    .join('')
    .replace(/!\[([^\]]*)\]\(([^)]+)\)/g, image)
    .replace(/\[([^\]]*)\]\(([^)\s]+)\)/g, link)
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\\|/g, '|'))

function table(lines: readonly string[], linkOf: LinkOf): string {
  const row = (line: string, tag: string): string =>
    `<tr>${cellsOf(line)
      .map((cell) => `<${tag}>${inline(cell, linkOf)}</${tag}>`)
      .join('')}</tr>`
  const [head = '', , ...body] = lines
  return `<table><thead>${row(head, 'th')}</thead><tbody>${body.map((line) => row(line, 'td')).join('\n')}</tbody></table>`
}

const ITEM = /^(?:[-*]|\d+\.) +/

/** Takes lines from the front while they belong together. */
function takeWhile(lines: string[], isPart: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !isPart(line))
  return lines.splice(0, end < 0 ? lines.length : end)
}

function list(lines: string[], linkOf: LinkOf): string {
  const ordered = /^\d/.test(lines[0] ?? '')
  const items: string[] = []
  while (ITEM.test(lines[0] ?? '')) {
    const first = lines.shift() as string
    const width = (ITEM.exec(first)?.[0] ?? '').length
    const rest = takeWhile(lines, (line) => line === '' || line.startsWith('  '))
    const own = [first.slice(width), ...rest.map((line) => line.replace(new RegExp(`^ {1,${width}}`), ''))]
    const [head, ...behind] = [takeWhile(own, (line) => line !== '' && !ITEM.test(line)).join('\n'), ...own]
    items.push(
      `<li>${inline(head, linkOf)}${behind.length === 0 ? '' : markdownToHtml(behind.join('\n'), linkOf)}</li>`,
    )
  }
  const tag = ordered ? 'ol' : 'ul'
  return `<${tag}>${items.join('\n')}</${tag}>`
}

function code(lines: readonly string[]): string {
  const text = lines.join('\n').replace(/\n+$/, '')
  return `<pre><code>${escaped(text)}</code></pre>`
}

/**
 * HTML of a page's content.
 * @param linkOf - where a link of the source leads in the pages
 */
export function markdownToHtml(source: string, linkOf: LinkOf): string {
  const lines = source.split('\n')
  const out: string[] = []
  while (lines.length > 0) {
    const line = lines[0] as string
    const heading = /^(#{1,6}) +(.*)$/.exec(line)
    if (line.trim() === '') lines.shift()
    else if (heading !== null) {
      const [, marks = '', text = ''] = heading
      lines.shift()
      out.push(`<h${marks.length} id="${anchorOf(text)}">${inline(text, linkOf)}</h${marks.length}>`)
    } else if (line.startsWith('```')) {
      lines.shift()
      out.push(code(takeWhile(lines, (next) => !next.startsWith('```'))))
      lines.shift()
    } else if (line.startsWith('    ')) {
      out.push(
        code(takeWhile(lines, (next) => next === '' || next.startsWith('    ')).map((indented) => indented.slice(4))),
      )
    } else if (ITEM.test(line)) out.push(list(lines, linkOf))
    else if (line.startsWith('|'))
      out.push(
        table(
          takeWhile(lines, (next) => next.startsWith('|')),
          linkOf,
        ),
      )
    else if (line.startsWith('>')) {
      const quoted = takeWhile(lines, (next) => next.startsWith('>')).map((quote) => quote.replace(/^> ?/, ''))
      out.push(`<blockquote>${markdownToHtml(quoted.join('\n'), linkOf)}</blockquote>`)
    } else {
      const part = takeWhile(
        lines,
        (next) => next.trim() !== '' && !/^(#{1,6} |```|\||>)/.test(next) && !ITEM.test(next),
      )
      out.push(`<p>${inline(part.join('\n'), linkOf)}</p>`)
    }
  }
  return out.join('\n')
}
