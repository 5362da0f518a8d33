/**
 * An untrusted RPC endpoint as a source: the methods that Lotus' gateway lets through.
 * @see lotus gateway/proxy_fil_v1.go
 */
import type { Cid } from '../codec/cid.ts'
import { bytes, decode } from '../codec/description.ts'
import { type Json, parseJson, stringifyJson } from '../codec/jsonText.ts'
import { type FinalityCertificate, finalityCertificate } from '../consensus/f3/certificate.ts'
import { type PowerTable, powerTable } from '../consensus/f3/powerTable.ts'
import { RpcClientError } from '../rpc/client/errors.ts'
import type { Post } from '../rpc/client/httpTransport.ts'
import { type JsonObject, resultOf } from '../rpc/client/response.ts'
import { signedMessage } from '../types/signedMessage.ts'
import { tipset } from '../types/tipset.ts'
import { LightError } from './errors.ts'
import type { LightSource, NamedHead } from './lightSource.ts'
import { MAX_SOURCE_ANSWER_BYTES } from './limits.ts'

/** Calls in one request, and requests at once: gateways limit rates. */
const BATCH = 24
const AT_ONCE = 3
const CONTEXT = { addressPrefix: 'f' } as const

interface Call {
  readonly method: string
  readonly params: Json
}

/** Calls an endpoint in batches, bounded. */
class Batches {
  readonly #post: Post
  #running = 0
  readonly #waiting: (() => void)[] = []
  /** Whether the endpoint takes arrays; undefined: nobody has tried. */
  #takesBatches = true
  bytesReceived = 0

  constructor(post: Post) {
    this.#post = post
  }

  /** Results in the order of the calls; an error stands for a call that failed. */
  async call(calls: readonly Call[], signal: AbortSignal): Promise<(Json | RpcClientError)[]> {
    const parts: Promise<(Json | RpcClientError)[]>[] = []
    const size = this.#takesBatches ? BATCH : 1
    for (let i = 0; i < calls.length; i += size) parts.push(this.#send(calls.slice(i, i + size), signal))
    return (await Promise.all(parts)).flat()
  }

  async #send(calls: readonly Call[], signal: AbortSignal): Promise<(Json | RpcClientError)[]> {
    await this.#enter(signal)
    try {
      const requests = calls.map(({ method, params }, id) => ({
        ...{ jsonrpc: '2.0', id, method: `Filecoin.${method}` },
        params,
      }))
      const body = stringifyJson(calls.length === 1 ? (requests[0] as JsonObject) : requests)
      const { status, text } = await this.#post(body, signal, MAX_SOURCE_ANSWER_BYTES)
      this.bytesReceived += text.length
      if (status >= 400 && !text.startsWith('{') && !text.startsWith('[')) {
        throw new RpcClientError('UNREACHABLE', `the endpoint answers with HTTP status ${status}`)
      }
      return this.#read(parseJson(text), calls.length)
    } catch (error) {
      if (error instanceof RpcClientError || signal.aborted) throw error
      throw new RpcClientError('UNREACHABLE', 'could not connect to the endpoint', {}, { cause: error })
    } finally {
      this.#running--
      this.#waiting.shift()?.()
    }
  }

  #read(json: Json, count: number): (Json | RpcClientError)[] {
    const answers = Array.isArray(json) ? json : [json]
    if (count > 1 && !Array.isArray(json)) this.#takesBatches = false
    if (answers.length !== count) throw new RpcClientError('BAD_ANSWER', 'the endpoint did not answer each call')
    const out: (Json | RpcClientError)[] = new Array<Json>(count).fill(null)
    for (const answer of answers) {
      if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
        throw new RpcClientError('BAD_ANSWER', 'the answer is no JSON-RPC')
      }
      const id = Number(answer.id ?? 0)
      if (!(id >= 0 && id < count)) throw new RpcClientError('BAD_ANSWER', 'the answer is to another call')
      out[id] = settled(answer)
    }
    return out
  }

  async #enter(signal: AbortSignal): Promise<void> {
    while (this.#running >= AT_ONCE) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
      if (signal.aborted) this.#waiting.shift()?.()
      signal.throwIfAborted()
    }
    this.#running++
  }
}

function settled(answer: JsonObject): Json | RpcClientError {
  try {
    return resultOf(answer)
  } catch (error) {
    if (error instanceof RpcClientError) return error
    throw error
  }
}

/** What an endpoint says of its newest certificate, beside what a {@link LightSource} does: for making checkpoints. */
export interface RpcSource extends LightSource {
  readonly kind: 'rpc'
  latestCertificate(signal: AbortSignal): Promise<FinalityCertificate | undefined>
}

/**
 * @param name - the endpoint's address, as the user wrote it
 * @param post - sends to its `/rpc/v1`
 * @param pushes - whether signed messages may be given to it
 */
export function rpcSource(name: string, post: Post, pushes: boolean): RpcSource {
  const batches = new Batches(post)
  const call = async (method: string, params: Json, signal: AbortSignal): Promise<Json> => {
    const [result] = await batches.call([{ method, params }], signal)
    if (result instanceof RpcClientError) throw result
    return result ?? null
  }
  return {
    name,
    kind: 'rpc',
    get bytesReceived() {
      return batches.bytesReceived
    },
    latestCertificate: async (signal) => certificateOf(await call('F3GetLatestCertificate', [], signal)),
    certificates: async (first, limit, signal) => {
      const latest = certificateOf(await call('F3GetLatestCertificate', [], signal))
      if (latest === undefined || latest.instance < first) return []
      const count = Math.min(limit, latest.instance - first + 1)
      const calls = Array.from({ length: count }, (_, i) => ({ method: 'F3GetCertificate', params: [first + i] }))
      const out: FinalityCertificate[] = []
      for (const json of await batches.call(calls, signal)) {
        if (json instanceof RpcClientError) break
        const certificate = certificateOf(json)
        if (certificate?.instance !== first + out.length) break
        out.push(certificate)
      }
      if (out.length === 0) throw new LightError('NO_ANSWER', `it has certificates, but not that of instance ${first}`)
      return out
    },
    powerTable: async (instance, signal): Promise<PowerTable> =>
      powerTable.fromJson(await call('F3GetPowerTableByInstance', [instance], signal), CONTEXT),
    blocks: async (cids, signal) => {
      const calls = cids.map((cid) => ({ method: 'ChainReadObj', params: [{ '/': cid.toString() }] }))
      const out: (readonly [Cid, Uint8Array])[] = []
      const results = await batches.call(calls, signal)
      results.forEach((json, i) => {
        if (!(json instanceof RpcClientError)) out.push([cids[i] as Cid, bytes.fromJson(json, CONTEXT)])
      })
      return out
    },
    head: async (signal): Promise<NamedHead> => {
      const { key, height } = tipset.fromJson(await call('ChainHead', [], signal), CONTEXT)
      return { key, height }
    },
    ...(pushes
      ? {
          push: async (message, signal) => {
            await call('MpoolPush', [signedMessage.toJson(decode(signedMessage, message), CONTEXT)], signal)
          },
        }
      : {}),
  }
}

function certificateOf(json: Json): FinalityCertificate | undefined {
  return json === null ? undefined : finalityCertificate.fromJson(json, CONTEXT)
}
