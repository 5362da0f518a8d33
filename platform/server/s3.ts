/** Archives in an S3-compatible bucket that is not public: each read is signed with the keys of the environment, which go nowhere else. */
import { AwsV4Signer } from 'aws4fetch'
import type { FetchRange } from '../../src/archive/remoteArchive.ts'
import { trimEnd } from '../../src/base/trimEnd.ts'
import { PlatformError } from './errors.ts'

/** How an address begins that is read with keys. */
export const S3_SCHEME = 's3://'

/** SHA-256 of no bytes: the body of a read. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

type Environment = Readonly<Record<string, string | undefined>>

/** What signs. */
export interface S3Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
  readonly region: string
}

/** A variable that is set to nothing is not set. */
function variable(env: Environment, ...names: readonly string[]): string | undefined {
  for (const name of names) if ((env[name] ?? '') !== '') return env[name]
  return undefined
}

function needed(env: Environment, ...names: readonly string[]): string {
  const value = variable(env, ...names)
  if (value !== undefined) return value
  throw new PlatformError('CONFIG_INVALID', `Cannot read from ${S3_SCHEME}: ${names.join(' or ')} is not set`)
}

/** The keys, in the variables that AWS' own programs read. @throws PlatformError `CONFIG_INVALID` */
export function s3Keys(env: Environment): S3Keys {
  return {
    accessKeyId: needed(env, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: needed(env, 'AWS_SECRET_ACCESS_KEY'),
    sessionToken: variable(env, 'AWS_SESSION_TOKEN'),
    region: needed(env, 'AWS_REGION', 'AWS_DEFAULT_REGION'),
  }
}

/**
 * Where an object is: at the endpoint that the environment names, else at Amazon's of the region.
 * @param address - `s3://<bucket>/<key>`
 * @throws PlatformError `CONFIG_INVALID`
 */
export function s3Url(address: string, env: Environment): string {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(address) ?? []
  if (bucket === '') {
    throw new PlatformError('CONFIG_INVALID', `Cannot read ${address}: expected ${S3_SCHEME}<bucket>/<key>`)
  }
  const path = key.split('/').map(encodeURIComponent).join('/')
  const endpoint = variable(env, 'AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL')
  if (endpoint !== undefined) {
    if (!/^https?:\/\/[^?#@]+$/.test(endpoint)) {
      throw new PlatformError('CONFIG_INVALID', 'Cannot use AWS_ENDPOINT_URL: expected http:// or https://')
    }
    return `${trimEnd(endpoint, '/')}/${bucket}/${path}`
  }
  const host = `s3.${needed(env, 'AWS_REGION', 'AWS_DEFAULT_REGION')}.amazonaws.com`
  // The certificate covers one name below it.
  return bucket.includes('.') ? `https://${host}/${bucket}/${path}` : `https://${bucket}.${host}/${path}`
}

/**
 * The headers of a signed read.
 * @param datetime - `20130524T000000Z`; default: now
 * @see the API reference of Amazon S3, "Authenticating Requests: Using the Authorization Header"
 */
export async function signedHeaders(
  url: string,
  headers: Readonly<Record<string, string>>,
  keys: S3Keys,
  datetime?: string,
): Promise<Record<string, string>> {
  const { sessionToken, ...others } = keys
  const signer = new AwsV4Signer({
    url,
    method: 'GET',
    headers: { ...headers, 'X-Amz-Content-Sha256': EMPTY_SHA256 },
    service: 's3',
    // The range too: aws4fetch leaves it out by itself.
    allHeaders: true,
    ...others,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(datetime === undefined ? {} : { datetime }),
  })
  return Object.fromEntries((await signer.sign()).headers)
}

/** `fetch` that signs. Redirections are not followed: who answers them would get the headers. */
export function signedFetch(keys: S3Keys): FetchRange {
  return async (url, init) =>
    fetch(url, { ...init, headers: await signedHeaders(url, init.headers, keys), redirect: 'manual' })
}
