/** A bucket of objects behind HTTP, read in ranges; one that is not public checks each signature by Node's own HMAC. */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Who may read it. */
export interface BucketKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** An object, or where it has moved. */
export type BucketObject = Uint8Array | { readonly moved: string }

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** The signature that a request should have. */
function expectedSignature({ headers, url = '' }: IncomingMessage, secret: string): string {
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? []
  const own = names.split(';').map((name) => `${name}:${String(headers[name])}\n`)
  const canonical = ['GET', url, '', own.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const [day = '', region = '', service = '', end = ''] = scope.split('/')
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), end)
  const hash = createHash('sha256').update(canonical).digest('hex')
  return hmac(key, ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash].join('\n')).toString('hex')
}

/** Serves objects by their paths, on loopback. */
export class Bucket {
  readonly #server: Server
  /** Of each request, in order: its session token. */
  readonly tokens: unknown[] = []

  private constructor(objects: ReadonlyMap<string, BucketObject>, keys: BucketKeys | undefined) {
    this.#server = createServer((request, response) => {
      this.tokens.push(request.headers['x-amz-security-token'])
      answer(request, response, objects.get(request.url ?? ''), keys)
    })
  }

  /** @param objects - by path: `/bucket/key` @param keys - undefined: it is public */
  static async start(objects: ReadonlyMap<string, BucketObject>, keys?: BucketKeys): Promise<Bucket> {
    const bucket = new Bucket(objects, keys)
    bucket.#server.listen(0, '127.0.0.1')
    await once(bucket.#server, 'listening')
    return bucket
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  end(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  object: BucketObject | undefined,
  keys: BucketKeys | undefined,
): void {
  const refuse = (status: number, code: string): void => {
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`)
  }
  const { authorization = '', range = '' } = request.headers
  if (keys !== undefined) {
    if (!authorization.includes(`Credential=${keys.accessKeyId}/`)) return refuse(403, 'InvalidAccessKeyId')
    if (!authorization.endsWith(`Signature=${expectedSignature(request, keys.secretAccessKey)}`))
      return refuse(403, 'SignatureDoesNotMatch')
  }
  if (object === undefined) return refuse(404, 'NoSuchKey')
  if ('moved' in object) return void response.writeHead(307, { location: object.moved }).end()
  const [from = 0, to = 0] = range.slice('bytes='.length).split('-').map(Number)
  response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${object.length}`, etag: '"a"' })
  response.end(object.subarray(from, to + 1))
}
