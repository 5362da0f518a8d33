/** Reads that are signed: the example that Amazon publishes, and a bucket that checks each signature. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type S3Keys, s3Keys, s3Url, signedFetch, signedHeaders } from '../../../platform/server/s3.ts'
import { openRemoteArchive } from '../../../src/archive/remoteArchive.ts'
import { portableZstd } from '../../../src/archive/zstd.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { Bucket, type BucketObject } from '../../support/bucket.ts'
import { missingShared, readShared } from '../../support/shared.ts'

const ARCHIVE = 'data/snapshots/chain4.forest.car.zst'
// The keys of Amazon's own example: "Signature Calculations for the Authorization Header", GET Object.
const KEYS: S3Keys = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
  region: 'us-east-1',
}

it("Amazon's example of a read has Amazon's signature", async () => {
  const url = 'https://examplebucket.s3.amazonaws.com/test.txt'
  const headers = await signedHeaders(url, { Range: 'bytes=0-9' }, KEYS, '20130524T000000Z')
  expect(headers.authorization).toContain('SignedHeaders=host;range;x-amz-content-sha256;x-amz-date')
  expect(headers.authorization).toContain('Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41')
})

it('an object has its address at the endpoint, or at Amazon', () => {
  const env = { AWS_REGION: 'eu-west-1' }
  expect(s3Url('s3://b/a/c+d e.car', env)).toBe('https://b.s3.eu-west-1.amazonaws.com/a/c%2Bd%20e.car')
  expect(s3Url('s3://b.c/a', env)).toBe('https://s3.eu-west-1.amazonaws.com/b.c/a')
  expect(s3Url('s3://b/a', { AWS_ENDPOINT_URL: 'http://127.0.0.1:9000/' })).toBe('http://127.0.0.1:9000/b/a')
})

it('what is missing is named', () => {
  expect(() => s3Url('s3://b', {})).toThrow('expected s3://<bucket>/<key>')
  expect(() => s3Url('s3://b/a', {})).toThrow('AWS_REGION or AWS_DEFAULT_REGION is not set')
  expect(() => s3Url('s3://b/a', { AWS_ENDPOINT_URL: 'nowhere' })).toThrow('AWS_ENDPOINT_URL')
  expect(() => s3Keys({})).toThrow('AWS_ACCESS_KEY_ID is not set')
  expect(() => s3Keys({ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: '' })).toThrow(
    'AWS_SECRET_ACCESS_KEY is not set',
  )
})

const missing = missingShared(ARCHIVE)

describe.skipIf(missing !== undefined)('a bucket that is not public', () => {
  let bucket: Bucket
  let env: Record<string, string>

  beforeAll(async () => {
    await initCrypto()
    const path = '/bucket/a%2Bb%20c'
    const objects: [string, BucketObject][] = [
      [path, readShared(ARCHIVE)],
      ['/bucket/moved', { moved: path }],
    ]
    bucket = await Bucket.start(new Map(objects), KEYS)
    env = { AWS_ENDPOINT_URL: bucket.url }
  })
  afterAll(() => bucket?.end())

  const open = (key: string, keys: Partial<S3Keys>): ReturnType<typeof openRemoteArchive> =>
    openRemoteArchive(s3Url(`s3://bucket/${key}`, env), signedFetch({ ...KEYS, ...keys }), portableZstd)

  it('is read with its keys, of a session too', async () => {
    await open('a+b c', {})
    expect(bucket.tokens.at(-1)).toBeUndefined()
    await open('a+b c', { sessionToken: 'session' })
    expect(bucket.tokens.at(-1)).toBe('session')
  })

  it.each([
    ['a+b c', { accessKeyId: 'nobody' }, /InvalidAccessKeyId \(nobody has this AWS_ACCESS_KEY_ID\)/],
    ['a+b c', { secretAccessKey: 'wrong-secret' }, /SignatureDoesNotMatch \(AWS_SECRET_ACCESS_KEY is not that/],
    ['another', {}, /NoSuchKey \(there is no such object/],
    ['moved', {}, /HTTP status 307/],
  ])('%s with %o is refused, without a secret in the text', async (key, keys, text) => {
    const error = (await open(key, keys).catch((caught: unknown) => caught)) as Error
    expect(error.message).toMatch(text)
    expect(error.message).not.toMatch(/wrong-secret|wJalr/)
  })
})
