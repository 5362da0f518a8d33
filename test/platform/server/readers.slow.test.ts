/** Threads that answer reads, beside a node in a process of its own. */
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { request as openRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { COST_LIMITS, MAX_CONNECTIONS, MAX_PIPELINED_REQUESTS } from '../../../src/base/bounds.ts'
import { type NodeProcess, startNode } from '../../runtimes/nodeProcess.ts'
import { Pipelined } from '../../support/pipelined.ts'
import { type Answer, RpcClient } from '../../support/rpcClient.ts'

const START_MS = 120_000
const STARTED = 'a thread answers reads, too'
/** Connections that ask at once: more than any look at how busy the node is needs. */
const CLIENTS = 8
/** Connections that ask ten dear calls each at once: together twice what an address may have under way. */
const FLOODS: number = Math.ceil((2 * COST_LIMITS.scan.perAddress) / 10)
/** Refusals, each on a connection of its own: the thread has made some of so many, whatever the kernel gives it. */
const REFUSALS = 24
/** Connections above the bound. */
const ABOVE = 40
/** Connections that ask for lists, each as often at once as it may: more in all than one address may have under way. */
const ASKING = Math.ceil((4 * COST_LIMITS.scan.perAddress) / MAX_PIPELINED_REQUESTS)

/** One request on a connection of its own. */
function ask(
  url: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; retryAfter: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = openRequest(`${url}${path}`, { method: body === undefined ? 'GET' : 'POST', agent: false, headers })
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      const { statusCode: status = 0, headers: told } = response
      response.on('end', () => resolve({ status, text, retryAfter: told['retry-after'] }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** Asks many times in one write. @returns the status of each answer */
function askAtOnce(url: string, body: string, count: number): Promise<string[]> {
  const { hostname, port } = new URL(url)
  const one = `POST /rpc/v1 HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(one.repeat(count)))
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (part: string) => {
      text += part
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status as string)
      if (statuses.length < count) return
      resolve(statuses)
      socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('not all was answered')))
  })
}

const call = (method: string, params: unknown[] = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params })

describe('threads that answer reads', () => {
  let home: string
  let node: NodeProcess
  let client: RpcClient

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'petrel-readers-'))
    node = await startNode(
      'node',
      home,
      ['devnet', '--api', '0', '--no-net', '--block-time', '1', '--actors', 'native', '--rpc-threads', '1'],
      START_MS,
    )
    client = new RpcClient(node.url, node.token)
    const clients = Array.from({ length: CLIENTS }, () => new Pipelined(node.url, call('ChainHead')))
    while (!node.output().includes(STARTED)) await sleep(50)
    for (const one of clients) one.close()
  }, START_MS)
  afterAll(async () => {
    await node?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  /** A figure of the node's page; 0: it has none. */
  async function figure(name: string): Promise<number> {
    const { text } = await ask(node.url, '/debug/metrics')
    const line = text.split('\n').find((one) => one.startsWith(`${name} `))
    return Number(line?.slice(name.length) ?? 0)
  }

  /** Of what the node counts: its own answers and the threads'. */
  function counted(method: string): Promise<number> {
    return figure(`lotus_api_request_duration_ms_count{endpoint="${method}"}`)
  }

  it('share connections with the node, and every answer is the node’s', async () => {
    const head = (await client.call('ChainHead')) as Answer
    const expected = JSON.stringify(await client.call('ChainGetTipSet', head.Cids))
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => ask(node.url, '/rpc/v1', call('ChainGetTipSet', [head.Cids]))),
    )
    for (const { status, text } of answers) {
      expect(status).toBe(200)
      expect(JSON.stringify((JSON.parse(text) as { result: unknown }).result)).toBe(expected)
    }
    // Told every now and then: until the sum is whole.
    while ((await counted('ChainGetTipSet')) < 65) await sleep(50)
  }, 30_000)

  it('never tell an older head than the node has told before', async () => {
    let highest = 0
    for (let i = 0; i < 300; i++) {
      const { text } = await ask(node.url, '/rpc/v1', call('ChainHead'))
      const { Height } = (JSON.parse(text) as { result: { Height: number } }).result
      expect(Height).toBeGreaterThanOrEqual(highest)
      highest = Height
    }
    expect(highest).toBeGreaterThan(1)
  }, 60_000)

  it('pass on what is not theirs: writes, what fails, batches, health, WebSockets', async () => {
    const auth = { authorization: `Bearer ${node.token}` }
    for (let i = 0; i < 12; i++) {
      const made = await ask(node.url, '/rpc/v1', call('WalletNew', ['secp256k1']), auth)
      expect(made.text).toContain('"result":"t1')
      const anonymous = await ask(node.url, '/rpc/v1', call('WalletNew', ['secp256k1']))
      expect(anonymous.text).toContain("missing permission to invoke 'WalletNew' (need 'write')")
      expect((await ask(node.url, '/rpc/v1', call('Nothing'))).text).toContain('not found')
      expect((await ask(node.url, '/rpc/v1', '{')).status).toBe(500)
      const batch = await ask(node.url, '/rpc/v1', `[${call('ChainHead')},${call('Version')}]`)
      expect((JSON.parse(batch.text) as unknown[]).length).toBe(2)
      expect((await ask(node.url, '/health/livez')).status).toBe(200)
      expect((await ask(node.url, '/nowhere')).status).toBe(404)
      expect((await ask(node.url, '/rpc/v1', call('ChainHead'), { authorization: 'Bearer x.y.z' })).status).toBe(401)
      const foreign = await ask(node.url, '/rpc/v1', call('ChainHead'), { origin: 'https://foreign.example' })
      expect(foreign.status).toBe(403)
      const socket = new WebSocket(`${node.url.replace('http', 'ws')}/rpc/v1`)
      const told = await new Promise<string>((resolve, reject) => {
        socket.on('open', () => socket.send(call('ChainHead')))
        socket.on('message', (data) => resolve(String(data)))
        socket.on('error', reject)
      })
      expect(told).toContain('"Height"')
      socket.close()
    }
  }, 60_000)

  it('know a revoked token as soon as the revocation is answered', async () => {
    for (let i = 0; i < 10; i++) {
      const token = (await client.call('AuthNewToken', ['read'], null)) as string
      const auth = { authorization: `Bearer ${token}` }
      for (let j = 0; j < 6; j++) expect((await ask(node.url, '/rpc/v1', call('ChainHead'), auth)).status).toBe(200)
      await client.call('AuthRevoke', token)
      for (let j = 0; j < 6; j++) expect((await ask(node.url, '/rpc/v1', call('ChainHead'), auth)).status).toBe(401)
    }
  }, 60_000)

  it('refuse a flood of dear calls as the node does, and answer when it is over', async () => {
    const dear = call('StateListMiners', [null])
    const floods = Array.from({ length: FLOODS }, () => new Pipelined(node.url, dear))
    const refused: Awaited<ReturnType<typeof ask>>[] = []
    while (refused.length < REFUSALS) {
      const answers = await Promise.all(Array.from({ length: REFUSALS }, () => ask(node.url, '/rpc/v1', dear)))
      refused.push(...answers.filter(({ status }) => status !== 200))
    }
    for (const { status, text, retryAfter } of refused) {
      expect([status, retryAfter, (JSON.parse(text) as { error: { code: number } }).error.code]).toEqual([
        429,
        '1',
        -32005,
      ])
    }
    for (const one of floods) one.close()
    // What they had under way leaves with them.
    while ((await ask(node.url, '/rpc/v1', dear)).status !== 200) await sleep(50)
    const after = await Promise.all(Array.from({ length: REFUSALS }, () => ask(node.url, '/rpc/v1', dear)))
    expect(after.map(({ status }) => status)).toEqual(after.map(() => 200))
  }, 60_000)

  it('have a port of the node’s that nobody else may use', async () => {
    const own = Number(new URL(node.url).port)
    const [shared, ports] = listeningPorts(node.pid, own)
    expect(shared, 'the node and its thread').toHaveLength(2)
    expect(ports.length).toBeGreaterThan(0)
    for (const port of ports) {
      const url = `http://127.0.0.1:${port}`
      expect((await ask(url, '/rpc/v1', call('ChainHead'))).status).toBe(403)
      const guessed = await ask(url, '/rpc/v1', call('ChainHead'), { 'x-petrel-for': ' 127.0.0.1' })
      expect(guessed.status).toBe(403)
      const refused = await new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1', () =>
          socket.write('GET /rpc/v1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
        )
        socket.on('data', (data) => resolve(String(data)))
      })
      expect(refused).toContain('403')
    }
  }, 30_000)

  it('count what they refuse, and their cache, on the node’s page', async () => {
    const name = 'petrel_rpc_refused_total{cost="scan"}'
    const before = await figure(name)
    let refused = 0
    while (refused === 0) {
      const answers = await Promise.all(
        Array.from({ length: ASKING }, () =>
          askAtOnce(node.url, call('StateListActors', [[]]), MAX_PIPELINED_REQUESTS),
        ),
      )
      const statuses = answers.flat()
      refused = statuses.filter((status) => status === '429').length
      expect(statuses.filter((status) => status === '200').length).toBe(statuses.length - refused)
    }
    expect(await figure(name)).toBe(before + refused)
    // Written down every now and then.
    while ((await figure('petrel_cache_bytes{thread="reads"}')) === 0) await sleep(50)
  }, 60_000)

  it('share the bound of connections with the node', async () => {
    const { hostname, port } = new URL(node.url)
    const sockets: Socket[] = []
    let ended = 0
    const enough = Promise.withResolvers<void>()
    const body = call('ChainHead')
    const asks = `POST /rpc/v1 HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    for (let i = 0; i < MAX_CONNECTIONS + ABOVE; i++) {
      const socket = connect(Number(port), hostname, () => socket.write(asks))
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        if (++ended === ABOVE) enough.resolve()
      })
      // Idle when it has its answer.
      await new Promise((resolve) => {
        socket.once('data', resolve)
        socket.once('close', resolve)
      })
    }
    // Each for itself would keep all of them.
    await enough.promise
    for (const socket of sockets) socket.destroy()
  }, 120_000)

  it('end with the node', async () => {
    expect(await node.stop()).toBe(0)
  }, 30_000)
})

it(
  'Deno has none, and says so',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'petrel-readers-'))
    const start = startNode('deno', home, ['devnet', '--api', '0', '--no-net', '--rpc-threads', '1'])
    await expect(start).rejects.toThrow('not supported: --rpc-threads in this runtime')
    rmSync(home, { recursive: true, force: true })
  },
  START_MS,
)

/** TCP ports that a process listens on, from /proc. @returns its own, and the others */
function listeningPorts(pid: number, own: number): [number[], number[]] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return []
      }
    }),
  )
  const ports = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.has(inode ?? ''))
    .map(([, local]) => Number.parseInt((local as string).split(':')[1] as string, 16))
  return [ports.filter((port) => port === own), ports.filter((port) => port !== own)]
}
