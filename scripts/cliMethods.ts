/**
 * Writes platform/cli/nodeMethods.ts: JSON types of the methods that the command line calls, out of the methods' signatures.
 * `npx biome check --write` then gives it the house's form.
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

/** A struct as the file has it. */
interface Struct {
  /** The name that Go gives it, with its package: `api.MsgLookup`. */
  readonly title: string
  readonly body: string
  /** Of the methods whose parameters or answers hold it. */
  readonly methods: Set<string>
}

/** Names of methods after which a docstring says "and more". */
const NAMED_METHODS = 3

/** Types of structs by the name that Go gives them, each once. */
class Types {
  readonly #structs = new Map<string, Struct>()
  #method = ''

  /** The types of a method's row, as its entry of the table. */
  entry(row: AnySignature): string {
    this.#method = row.name
    const params = row.params.map((param) => `${param.name}: ${this.of(param.codec.schema)}`).join(', ')
    return `  ${row.name}: { params: [${params}]; result: ${this.of(row.result.schema)} }`
  }

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
    const { title } = schema
    const name = typeName(title)
    const body = fields()
    const known = this.#structs.get(name)
    // Two structs of one name with other fields: the later one stays where it is used.
    if (known !== undefined && known.body !== body) return `{\n${body}\n}`
    this.#structs.set(name, { title, body, methods: (known?.methods ?? new Set<string>()).add(this.#method) })
    return name
  }

  text(): string {
    return [...this.#structs]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, struct]) => `${docstring(struct)}\nexport type ${name} = {\n${struct.body}\n}\n`)
      .join('\n')
  }
}

/** Which struct it is and where one meets it, which its name does not say. */
function docstring({ title, methods }: Struct): string {
  const names = [...methods].sort()
  const more = names.length > NAMED_METHODS ? ' and more' : ''
  return `/** \`${title}\` of ${names.slice(0, NAMED_METHODS).join(', ')}${more}. */`
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
  const table = (version: 'v0' | 'v1'): string[] =>
    [...byName.keys()].sort().flatMap((name) => {
      const row = servedOn(version, byName.get(name) as AnySignature[])
      return row === undefined ? [] : [types.entry(row)]
    })
  const [v0, v1] = [table('v0'), table('v1')]
  const both = v0.filter((entry) => v1.includes(entry))
  const alone = (entries: readonly string[]): string => entries.filter((entry) => !both.includes(entry)).join('\n')
  return `/**
 * JSON types of the methods that the command line calls, by path. Written by scripts/cliMethods.ts out of src/rpc/signatures;
 * a test compares.
 */
import type { Json } from '../../src/codec/jsonText.ts'

/** A CID as text below the key \`/\`, as DAG-JSON links. */
export type JsonCid = { readonly '/': string }

${types.text()}
/** Methods that both paths serve alike. */
type SameOnBoth = {
${both.join('\n')}
}

/** Methods of \`/rpc/v0\`. */
export type MethodsV0 = SameOnBoth & {
${alone(v0)}
}

/** Methods of \`/rpc/v1\`. */
export type MethodsV1 = SameOnBoth & {
${alone(v1)}
}
`
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(OUT, await cliMethodsText())
}
