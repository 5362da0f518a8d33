/** Endpoints that answer too much, or nothing. */
import { expect, test } from 'vitest'
import { MAX_SOURCE_ANSWER_BYTES } from '../../src/light/limits.ts'
import { makeCheckpoint } from '../../src/light/makeCheckpoint.ts'
import { type RpcSource, rpcSource } from '../../src/light/rpcSource.ts'
import { fetchPost, type Post } from '../../src/rpc/client/httpTransport.ts'

const MIB = 1024 * 1024

test('an endpoint whose answer is far above the bound is left there', async () => {
  let made = 0
  const chunk = new Uint8Array(MIB).fill(0x20)
  const long = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull: (controller) => {
        if (++made > (2 * MAX_SOURCE_ANSWER_BYTES) / MIB) controller.close()
        else controller.enqueue(chunk)
      },
    })
  const source = rpcSource(
    'long',
    fetchPost(() => Promise.resolve(new Response(long())), 'http://node'),
    false,
  )
  const asked = source.certificates?.(0, 1, new AbortController().signal)
  await expect(asked).rejects.toMatchObject({ code: 'BAD_ANSWER' })
  // One that has crossed the bound, and one that the stream keeps ready.
  expect(made).toBeLessThanOrEqual(MAX_SOURCE_ANSWER_BYTES / MIB + 2)
})

test.each([0, 1])('an answer of the bound and %i bytes', async (above) => {
  const answer = new TextEncoder().encode('{"jsonrpc":"2.0","id":0,"result":null}'.padEnd(MIB, ' '))
  const blank = new Uint8Array(MIB).fill(0x20)
  let left = MAX_SOURCE_ANSWER_BYTES + above
  const exact = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull: (controller) => {
        const chunk = left > MAX_SOURCE_ANSWER_BYTES - MIB + above ? answer : blank
        if (left === 0) controller.close()
        else controller.enqueue(chunk.subarray(0, left))
        left -= Math.min(left, chunk.length)
      },
    })
  const source = rpcSource(
    'exact',
    fetchPost(() => Promise.resolve(new Response(exact())), 'http://node'),
    false,
  )
  const asked = source.latestCertificate(new AbortController().signal)
  if (above === 0) expect(await asked).toBeUndefined()
  else await expect(asked).rejects.toMatchObject({ code: 'BAD_ANSWER' })
  expect(source.bytesReceived).toBe(above === 0 ? MAX_SOURCE_ANSWER_BYTES : 0)
})

test('endpoints that agree on an empty power table make no checkpoint', async () => {
  for (const table of ['null', '[]']) {
    const post: Post = (body) => {
      const { id } = JSON.parse(body) as { id: number }
      return Promise.resolve({ status: 200, text: `{"jsonrpc":"2.0","id":${id},"result":${table}}` })
    }
    const latestCertificate = (() => Promise.resolve({ instance: 60 })) as unknown as RpcSource['latestCertificate']
    const endpoints = ['a', 'b'].map((name) => ({ ...rpcSource(name, post, false), latestCertificate }))
    const made = makeCheckpoint(endpoints, { f3Network: 'f', date: '2026-11-25' }, new AbortController().signal)
    await expect(made).rejects.toThrow('no power table of instance 60')
    await expect(made).rejects.toMatchObject({ code: 'NO_ANSWER' })
  }
})
