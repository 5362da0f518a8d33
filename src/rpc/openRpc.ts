/** The OpenRPC document of a path, made from the method table. */
import type { Json } from '../codec/description.ts'
import { json } from '../codec/description.ts'
import type { ApiVersion, MethodRow } from './method.ts'
import { method } from './method.ts'
import { type MethodTable, NAMESPACES } from './table.ts'

/** What the document says about the node. */
export interface OpenRpcInfo {
  readonly title: string
  readonly version: string
}

function describeRow(row: MethodRow): Json {
  return {
    name: `${NAMESPACES[0]}.${row.name}`,
    ...(row.summary === '' ? {} : { summary: row.summary }),
    tags: [{ name: `perm:${row.perm}` }, ...(row.kind === 'channel' ? [{ name: 'channel' }] : [])],
    paramStructure: 'by-position',
    params: row.params.map((param) => ({
      name: param.name,
      description: param.codec.goType ?? param.codec.name,
      required: row.kind !== 'raw',
      schema: param.codec.schema as Json,
    })),
    result: { name: row.result.name, description: row.result.name, schema: row.result.schema as Json },
    ...(row.aliases.length === 0 ? {} : { 'x-aliases': [...row.aliases] }),
  }
}

/** The document: every method of the path once, under the `Filecoin` namespace (`Node` serves the same). */
function openRpcDocument(table: MethodTable, version: ApiVersion, info: OpenRpcInfo): Json {
  return {
    openrpc: '1.2.6',
    info: { title: info.title, version: info.version },
    methods: table.list(version).map(describeRow),
  }
}

/** The row of `rpc.discover`. */
export function discoverMethod(getTable: () => MethodTable, info: OpenRpcInfo): MethodRow {
  const documents = new Map<ApiVersion, Json>()
  return method({
    name: 'Discover',
    perm: 'read',
    versions: ['v1'],
    summary: 'This document.',
    aliases: ['rpc.discover'],
    params: [],
    result: json,
    // 130 kB, which a batch may ask for thousands of times.
    cacheResult: true,
    handler: ({ version }) => {
      const known = documents.get(version)
      if (known !== undefined) return known
      const document = openRpcDocument(getTable(), version, info)
      documents.set(version, document)
      return document
    },
  })
}
