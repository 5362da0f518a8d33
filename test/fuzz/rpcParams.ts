/** Parameters of every method, read as the node reads them: a line with the method's name, then a JSON list. */
import { readdirSync } from 'node:fs'
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import type { Param } from '../../src/rpc/method.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { mutateJson } from './mutateJson.ts'
import { generateCalls } from './rpcCalls.ts'

/** Generated calls to begin with: some of each method. */
const SEEDS = 3000
const SEED = 20_261_126
const JSON_FORM = { addressPrefix: 't' } as const

interface Signature {
  readonly name: string
  readonly params: readonly Param<unknown>[]
}

function isSignature(value: unknown): value is Signature {
  return typeof value === 'object' && value !== null && 'name' in value && 'params' in value
}

const folder = new URL('../../src/rpc/signatures/', import.meta.url)
const modules = await Promise.all(
  readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => import(new URL(name, folder).href) as Promise<object>),
)
const signatures = new Map(
  modules
    .flatMap((module) => Object.values(module) as unknown[])
    .filter(isSignature)
    .map((signature) => [signature.name, signature]),
)

function seeds(): readonly Uint8Array[] {
  const methods = [...signatures.values()].map(({ name, params }) => ({
    name,
    types: params.map(({ codec }) => codec.goType ?? codec.name),
  }))
  const calls = generateCalls(methods, new Map(), SEED)
  return Array.from({ length: SEEDS }, () => {
    const { method, params } = calls.next().value
    return utf8(`${method}\n${stringifyJson(params)}`)
  })
}

export const rpcParams: FuzzTarget = {
  seeds,
  mutate: mutateJson,
  run: (input) => {
    const text = fromUtf8(input)
    const end = text.indexOf('\n')
    const signature = signatures.get(text.slice(0, end))
    if (signature === undefined) throw new PetrelError('NO_METHOD', 'no such method')
    const params: Json = parseJson(text.slice(end + 1))
    if (!Array.isArray(params)) throw new PetrelError('NO_LIST', 'no list of parameters')
    for (const [i, { codec }] of signature.params.entries()) codec.fromJson(params[i] ?? null, JSON_FORM)
  },
}
