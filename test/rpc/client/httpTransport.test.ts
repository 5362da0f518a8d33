/** How much of an answer is read. */
import { expect, test } from 'vitest'
import { fetchPost } from '../../../src/rpc/client/httpTransport.ts'

/** A body of so many chunks; what was made of it and whether its reader ended it. */
function body(chunkBytes: number, chunks: number) {
  const seen = { made: 0, cancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (seen.made === chunks) controller.close()
        else {
          seen.made++
          controller.enqueue(new Uint8Array(chunkBytes).fill(0x20))
        }
      },
      cancel: () => {
        seen.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { seen, post: fetchPost(() => Promise.resolve(new Response(stream)), 'http://node/rpc/v1') }
}

test('an answer is read up to its bound, and no further', async () => {
  const fits = body(10, 10)
  expect((await fits.post('', undefined, 100)).text).toBe(' '.repeat(100))
  const endless = body(10, Number.POSITIVE_INFINITY)
  await expect(endless.post('', undefined, 100)).rejects.toMatchObject({ code: 'BAD_ANSWER' })
  expect(endless.seen).toEqual({ made: 11, cancelled: true })
})

test('an answer without a bound is read whole', async () => {
  expect((await body(10, 20).post('', undefined)).text).toBe(' '.repeat(200))
})

test('a character that is cut in two by the network is one still', async () => {
  const bytes = new TextEncoder().encode('"é€"')
  const parts = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  const post = fetchPost(() => Promise.resolve(new Response(parts)), 'http://node/rpc/v1')
  expect((await post('', undefined, 100)).text).toBe('"é€"')
})

test('where a runtime has no streams the text is measured', async () => {
  const post = fetchPost(() => Promise.resolve({ status: 200, text: () => Promise.resolve('12345') }), 'http://node')
  expect((await post('', undefined, 5)).text).toBe('12345')
  await expect(post('', undefined, 4)).rejects.toMatchObject({ code: 'BAD_ANSWER' })
})
