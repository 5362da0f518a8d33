/** The API reference: a page for each namespace, out of the methods' signatures, with answers that Lotus gave on recorded chains. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Json, stringifyJson } from '../../src/codec/jsonText.ts'
import type { AnySignature } from '../../src/rpc/client/client.ts'
import type { MethodFacts } from '../../src/rpc/method.ts'
import { escaped } from './markdown.ts'
import type { Example, Examples } from './recordedExamples.ts'

/** A signature with what is said of its method. */
export type Described = AnySignature & MethodFacts

/** Longest example, characters. */
const MAX_EXAMPLE = 1600

/** Every method that a node serves, by name. */
export async function allSignatures(folder: string): Promise<Described[]> {
  const found = new Map<string, Described>()
  for (const file of readdirSync(folder).sort()) {
    const module = (await import(join(folder, file))) as Record<string, unknown>
    for (const value of Object.values(module)) {
      const described = value as Partial<Described> | undefined
      if (
        typeof described === 'object' &&
        described.name !== undefined &&
        described.result !== undefined &&
        described.params !== undefined
      ) {
        found.set(`${described.name} ${described.versions?.join() ?? ''}`, described as Described)
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The first word of a method's name: `Chain` of `ChainHead`. */
export function namespaceOf({ name }: Pick<Described, 'name'>): string {
  return /^(?:F3|[A-Z][a-z]+|[a-z]+)/.exec(name)?.[0] ?? 'Other'
}

/** Where a method is served that does not say it. @see src/rpc/method.ts MethodFacts */
const DEFAULT_VERSIONS = ['v0', 'v1']

/** By which a method is called. */
export function namesOf({ name, aliases = [] }: Described): string[] {
  return [`Filecoin.${name}`, ...aliases]
}

function shortened(json: Json): string {
  const text = stringifyJson(json, 2)
  return text.length <= MAX_EXAMPLE
    ? text
    : `${text.slice(0, MAX_EXAMPLE)}\n… ${text.length - MAX_EXAMPLE} characters more`
}

function exampleHtml(example: Example | undefined): string {
  if (example === undefined) return '<p class="none">No answer was recorded.</p>'
  return (
    `<details><summary>Answer of Lotus (${escaped(example.chain)})</summary>` +
    `<pre><code>→ ${escaped(shortened(example.params))}\n← ${escaped(shortened(example.result))}</code></pre></details>`
  )
}

function methodHtml(method: Described, examples: Examples): string {
  const params = method.params.map(
    ({ name, codec }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${escaped(codec.goType ?? codec.name)}</td></tr>`,
  )
  const { summary = '', versions = DEFAULT_VERSIONS, result } = method
  const names = namesOf(method)
  return [
    `<h2 id="${method.name}">${method.name}</h2>`,
    summary === '' ? '' : `<p>${escaped(summary)}</p>`,
    `<p class="facts">permission <code>${method.perm}</code> · paths ${versions.map((version) => `<code>/rpc/${version}</code>`).join(' ')} · called ${names
      .map((name) => `<code>${escaped(name)}</code>`)
      .join(' ')}</p>`,
    params.length === 0
      ? ''
      : `<table><thead><tr><th>parameter</th><th>type</th></tr></thead><tbody>${params.join('')}</tbody></table>`,
    `<p>${'kind' in method && method.kind === 'channel' ? 'A channel of' : 'Gives'} <code>${escaped(result.goType ?? result.name)}</code></p>`,
    exampleHtml(names.map((name) => examples.get(name)).find((found) => found !== undefined)),
  ].join('\n')
}

/** Namespaces of fewer methods share a page. */
const FEW = 3

/** The bodies of the pages by namespace, in order of names. */
export function referencePages(methods: readonly Described[], examples: Examples): Map<string, string> {
  const counts = Map.groupBy(methods, namespaceOf)
  const bodies = new Map<string, string[]>()
  for (const method of methods) {
    const own = namespaceOf(method)
    const space = (counts.get(own)?.length ?? 0) < FEW ? 'Common' : own
    bodies.set(space, [...(bodies.get(space) ?? [`<h1>${space}</h1>`]), methodHtml(method, examples)])
  }
  return new Map([...bodies].map(([space, parts]) => [space, parts.join('\n')]))
}
