/** Requests and answers of HTTP as plain values, between a platform's server and src/rpc. */
import type { Held } from './held.ts'

/** A request as the platform's server saw it. */
export interface HttpRequest {
  /** `POST`, `GET`, … */
  readonly verb: string
  /** Path with query: `/rpc/v1?token=…`. */
  readonly url: string
  /** The value of a header, any case of the name. */
  header(name: string): string | undefined
  /** The body; a server may stop reading one byte behind the limit. */
  readonly body: Uint8Array | string
  /** Aborted when the client goes away. */
  readonly signal?: AbortSignal
  /** Where it comes from, an address or a network: callers without a token have a share each by it. */
  readonly address?: string
  /** Absent: nobody counts. */
  readonly held?: Held | undefined
}

/** What to write back. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** In place of the body, one behind the other: a file that is no text, or what is UTF-8 already. */
  readonly pieces?: readonly Uint8Array[]
  /**
   * What follows the body, as it comes: nothing is asked for before what came earlier has been taken. Ends by itself when the
   * request's signal fires. What the request holds is needed until the end.
   */
  readonly rest?: AsyncIterable<string>
}
