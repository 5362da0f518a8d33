/**
 * Writes platform/cli/nodeMethods.ts: JSON types of the methods that the command line calls, out of the methods' signatures.
 * With --check it only says whether the file is what it would write.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../src/codec/jsonText.ts'
import type { AnySignature } from '../src/rpc/client/client.ts'

const ROOT = join(import.meta.dirname, '..')
const OUT = join(ROOT, 'platform/cli/nodeMethods.ts')
const CLI = join(ROOT, 'platform/cli')
const SIGNATURES = join(ROOT, 'src/rpc/signatures')
/** How the command line names a method: `call('ChainHead'`, `listen('MpoolSub'`, a draft `['MsigPropose'`. */
const NAMED = /'([A-Z][A-Za-z0-9]+)'/g

type Schema = { readonly [key: string]: Json }

async function signatures(): Promise<AnySignature[]> {
  const found: AnySignature[] = []
  for (const file of readdirSync(SIGNATURES).sort()) {
    const module = (await import(join(SIGNATURES, file))) as Record<string, unknown>
    for (const value of Object.values(module)) {
      const signature = value as Partial<AnySignature> | undefined
      if (typeof signature === 'object' && signature.result !== undefined && signature.params !== undefined)
        found.push(signature as AnySignature)
    }
  }
  return found
}

function namedInCli(): Set<string> {
  const names = new Set<string>()
  for (const entry of readdirSync(CLI, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !file.endsWith('.ts') || file === OUT) continue
    for (const [, name] of readFileSync(file, 'utf8').matchAll(NAMED)) names.add(name as string)
  }
  return names
}

/** Types of structs by the name that Go gives them, each once. */
class Types {
  readonly #bodies = new Map<string, string>()

  of(schema: Schema): string {
    if (Array.isArray(schema.oneOf)) return unionOf(schema.oneOf.map((branch) => this.of(branch as Schema)))
    if (Array.isArray(schema.enum)) return unionOf(schema.enum.map((literal) => JSON.stringify(literal)))
    const { type } = schema
    if (Array.isArray(type)) return unionOf(type.map((name) => this.of({ ...schema, type: name })))
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type
      case 'integer':
      case 'number':
        return 'number'
      case 'array': {
        const items = schema.items as Schema | undefined
        return `(${items === undefined ? 'Json' : this.of(items)})[]`
      }
      case 'object':
        return this.#object(schema)
      default:
        return 'Json'
    }
  }

  #object(schema: Schema): string {
    const properties = schema.properties as Record<string, Schema> | undefined
    if (properties === undefined) {
      const values = schema.additionalProperties as Schema | undefined
      return `{ readonly [key: string]: ${values === undefined ? 'Json' : this.of(values)} }`
    }
    const names = Object.keys(properties)
    if (names.length === 1 && names[0] === '/') return 'JsonCid'
    const fields = (): string =>
      names.map((name) => `  readonly ${JSON.stringify(name)}: ${this.of(properties[name] as Schema)}`).join('\n')
    if (typeof schema.title !== 'string') return `{\n${fields()}\n}`
    const title = typeName(schema.title)
    const body = fields()
    const known = this.#bodies.get(title)
    // Two structs of one name with other fields: the later one stays where it is used.
    if (known !== undefined && known !== body) return `{\n${body}\n}`
    this.#bodies.set(title, body)
    return title
  }

  text(): string {
    return [...this.#bodies]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, body]) => `export type ${name} = {\n${body}\n}\n`)
      .join('\n')
  }
}

const unionOf = (parts: readonly string[]): string => [...new Set(parts)].join(' | ')

/** `api.MsgLookup` as `ApiMsgLookup`. */
function typeName(title: string): string {
  return title.replace(/(^|[^A-Za-z0-9])([a-zA-Z])/g, (_, __, letter: string) => letter.toUpperCase())
}

/** The row that a path serves: its own, on v0 else that of v1. */
function servedOn(version: 'v0' | 'v1', all: readonly AnySignature[]): AnySignature | undefined {
  const on = (path: 'v0' | 'v1'): AnySignature | undefined =>
    all.find(({ versions = ['v0', 'v1'] }) => versions.includes(path))
  return on(version) ?? (version === 'v0' ? on('v1') : undefined)
}

export async function cliMethodsText(): Promise<string> {
  const names = namedInCli()
  const byName = new Map<string, AnySignature[]>()
  for (const signature of await signatures()) {
    if (!names.has(signature.name)) continue
    const known = byName.get(signature.name)
    if (known === undefined) byName.set(signature.name, [signature])
    else known.push(signature)
  }
  const types = new Types()
  const table = (version: 'v0' | 'v1'): string => {
    const lines: string[] = []
    for (const name of [...byName.keys()].sort()) {
      const row = servedOn(version, byName.get(name) as AnySignature[])
      if (row === undefined) continue
      const params = row.params.map((param) => `${param.name}: ${types.of(param.codec.schema)}`).join(', ')
      lines.push(`  ${name}: { params: [${params}]; result: ${types.of(row.result.schema)} }`)
    }
    return lines.join('\n')
  }
  const [v0, v1] = [table('v0'), table('v1')]
  return `/**
 * JSON types of the methods that the command line calls, by path. Written by scripts/cliMethods.ts out of src/rpc/signatures;
 * a test compares.
 */
import type { Json } from '../../src/codec/jsonText.ts'

export type JsonCid = { readonly '/': string }

${types.text()}
/** Methods of \`/rpc/v0\`. */
export type MethodsV0 = {
${v0}
}

/** Methods of \`/rpc/v1\`. */
export type MethodsV1 = {
${v1}
}
`
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(OUT, await cliMethodsText())
}
