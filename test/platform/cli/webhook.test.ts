/** A receiver that fails, and one that is gone. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliver, type Webhook } from '../../../platform/cli/webhook.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-webhook-'))
const answers: number[] = []
const heard: { method: string | undefined; headers: IncomingMessage['headers']; body: string }[] = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString('utf8')
  })
  request.on('end', () => {
    heard.push({ method: request.method, headers: request.headers, body })
    const status = answers.shift() ?? 200
    response.writeHead(status, status >= 300 && status < 400 ? { Location: '/deposits/' } : {}).end()
  })
})
beforeAll(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)))
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const waits: number[] = []
const webhook = (name: string, url?: string): Webhook => ({
  url: url ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}/deposits`,
  secret: 'a secret',
  deadLetters: join(folder, name),
  sleep: (ms) => Promise.resolve(void waits.push(ms)),
  now: () => 1_700_000_000_500,
})

/** By another implementation. */
async function hmac(secret: string, text: string): Promise<string> {
  const bytes = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  return Buffer.from(await crypto.subtle.sign('HMAC', key, bytes.encode(text))).toString('hex')
}

test('is tried until somebody takes it, signed each time', async () => {
  answers.push(500, 503)
  expect(await deliver(webhook('none'), '{"a":1}')).toBeUndefined()
  expect(heard.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}'])
  expect(heard[0]?.headers).toMatchObject({
    'petrel-timestamp': '1700000000',
    'petrel-signature': `sha256=${await hmac('a secret', '1700000000.{"a":1}')}`,
  })
  expect(waits).toEqual([1000, 2000])
  expect(() => readFileSync(join(folder, 'none'))).toThrow('ENOENT')
})

test('is kept when nobody does', async () => {
  answers.push(500, 500, 500, 500, 500, 500)
  expect(await deliver(webhook('dead'), '{"b":2}')).toBe('status 500')
  expect(await deliver(webhook('dead', 'http://127.0.0.1:1/'), '{"c":3}')).toBeDefined()
  const lines = readFileSync(join(folder, 'dead'), 'utf8').trim().split('\n')
  expect(lines.map((one) => (JSON.parse(one) as { event: unknown }).event)).toEqual([{ b: 2 }, { c: 3 }])
})

test('is not said to be kept when the disk took a part of it, and leaves no part', async () => {
  const file = join(folder, 'full')
  const kept = '{"event":{"a":1}}\n'
  writeFileSync(file, kept)
  const source = fileURLToPath(new URL('../../../platform/cli/webhook.ts', import.meta.url))
  const script = `
    import { deliver } from ${JSON.stringify(source)}
    const webhook = { url: 'http://127.0.0.1:1/', secret: 's', deadLetters: ${JSON.stringify(file)}, retryMs: [] }
    const io = { sleep: async () => undefined, now: Date.now }
    await deliver({ ...webhook, ...io }, JSON.stringify({ a: 'd'.repeat(6000) })).then(
      () => console.log('kept'),
      (error) => console.log('threw ' + error.code),
    )`
  // Files of at most 2 KiB, as a disk that has no more room: the first write is a short one.
  const run = ['ulimit -f 4; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', script]
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', ...run], { timeout: 60_000 })
  expect([stdout, stderr]).toEqual(['threw EFBIG\n', expect.not.stringContaining('Error')])
  expect(readFileSync(file, 'utf8')).toBe(kept)
})

test.each([301, 302, 307, 308])('is not taken by who sends it elsewhere (%i): kept, with the place', async (status) => {
  heard.length = 0
  answers.push(status, status)
  const name = `moved ${status}`
  expect(await deliver({ ...webhook(name), retryMs: [1] }, '{"d":4}')).toBe(
    `status ${status}, which leads to /deposits/`,
  )
  expect(heard.map(({ method, body }) => [method, body])).toEqual([
    ['POST', '{"d":4}'],
    ['POST', '{"d":4}'],
  ])
  const kept = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { problem: string; event: unknown }
  expect(kept).toMatchObject({ problem: `status ${status}, which leads to /deposits/`, event: { d: 4 } })
})
