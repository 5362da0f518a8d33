/**
 * An RPC endpoint over the recorded chain with certificates: the methods that Lotus' gateway lets through, answered from what
 * Lotus made. Each answer can be bent, to play a liar.
 */
import { toBase64 } from '../../src/base/bytes.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { type FinalityCertificate, finalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { powerTable } from '../../src/consensus/f3/powerTable.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import type { Post } from '../../src/rpc/client/httpTransport.ts'
import { type Tipset, tipset } from '../../src/types/tipset.ts'

/** What an endpoint has. */
export interface EndpointData {
  readonly blocks: Blockstore
  certificates: readonly FinalityCertificate[]
  readonly tableAt: (instance: number) => Json
  head: Tipset
}

/** How an endpoint lies: each is given the honest answer. */
export interface Bends {
  readonly certificate?: (one: FinalityCertificate) => FinalityCertificate
  readonly table?: (json: Json) => Json
  readonly block?: (cid: string, base64: string) => string | undefined
  readonly head?: (head: Tipset) => Tipset
}

/** An endpoint, with what it was asked. */
export interface Endpoint {
  readonly post: Post
  readonly calls: Map<string, number>
}

const CONTEXT = { addressPrefix: 't' } as const

export function endpoint(data: EndpointData, bends: Bends = {}): Endpoint {
  const calls = new Map<string, number>()
  const certificate = (one: FinalityCertificate | undefined): Json =>
    one === undefined ? null : finalityCertificate.toJson(bends.certificate?.(one) ?? one, CONTEXT)
  const answer = (method: string, params: readonly Json[]): Json => {
    calls.set(method, (calls.get(method) ?? 0) + 1)
    switch (method) {
      case 'Filecoin.F3GetLatestCertificate':
        return certificate(data.certificates.at(-1))
      case 'Filecoin.F3GetCertificate': {
        const found = data.certificates.find((one) => one.instance === Number(params[0]))
        if (found === undefined) throw new Error('certificate not found')
        return certificate(found)
      }
      case 'Filecoin.F3GetPowerTableByInstance': {
        const table = data.tableAt(Number(params[0]))
        return bends.table?.(table) ?? table
      }
      case 'Filecoin.ChainReadObj': {
        const text = (params[0] as { '/': string })['/']
        const block = data.blocks.get(parseCid(text))
        const bent = block === undefined ? undefined : toBase64(block)
        const given = bent === undefined || bends.block === undefined ? bent : bends.block(text, bent)
        if (given === undefined) throw new Error('ipld: could not find it')
        return given
      }
      case 'Filecoin.ChainHead':
        return tipset.toJson(bends.head?.(data.head) ?? data.head, CONTEXT)
      default:
        throw new Error(`method '${method}' not found`)
    }
  }
  const one = (request: { id: Json; method: string; params: readonly Json[] }): Json => {
    try {
      return { jsonrpc: '2.0', id: request.id, result: answer(request.method, request.params) }
    } catch (error) {
      return { jsonrpc: '2.0', id: request.id, error: { code: 1, message: String(error) } }
    }
  }
  return {
    calls,
    post: (body) => {
      const json = parseJson(body) as unknown as Parameters<typeof one>[0] | Parameters<typeof one>[0][]
      return Promise.resolve({ status: 200, text: stringifyJson(Array.isArray(json) ? json.map(one) : one(json)) })
    },
  }
}

/** The table that signs an instance, as JSON. */
export function tableJson(entries: Parameters<typeof powerTable.toJson>[0]): Json {
  return powerTable.toJson(entries, CONTEXT)
}
