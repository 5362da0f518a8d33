/** What an operator's signals do to a node that runs as a process of its own: stop, stop at once, read the options again; and its log file. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { COST_LIMITS } from '../../src/base/bounds.ts'
import { type NodeProcess, RUNTIMES, startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { ROOT } from '../support/shared.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-signals-'))
const DEVNET = ['devnet', '--api', '0', '--actors', 'native', '--block-time', '0.5']
/** What the log file is put aside at. @see platform/server/rotatingFile.ts */
const FULL_LOG = 64 * 1024 * 1024
const FORCED_STOP_MS = 5000
const STOPS_TRIED = 5
const REDIAL_MS = 3000
const NOBODY = '/ip4/127.0.0.1/tcp/9/p2p/12D3KooWGnkd9GQKo3apkShQDaq1d6cKJJmsVe6KiQkacUk1T8oZ'

const running: NodeProcess[] = []
afterEach(async () => {
  for (const node of running.splice(0)) await node.kill()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(
  runtime: string,
  name: string,
  args: readonly string[],
): Promise<NodeProcess & { readonly home: string }> {
  const home = join(folder, `${runtime}-${name}`)
  const node = await startNode(runtime, home, args)
  running.push(node)
  return { ...node, home }
}

/** A message that stays pending: the one before it is never sent. */
async function neverMined({ url, token }: NodeProcess): Promise<unknown> {
  const client = new RpcClient(url, token)
  const from: string = await client.call('WalletDefaultAddress')
  const message = await client.call('GasEstimateMessageGas', { From: from, To: from, Value: '1' }, null, [])
  const nonce: number = await client.call('MpoolGetNonce', from)
  const signed: unknown = await client.call('WalletSignMessage', from, { ...message, Nonce: nonce + 2 })
  return await client.call('MpoolPush', signed)
}

/** A call that has no end: it waits for {@link neverMined}. @returns whether it waits still */
async function endlessCall(node: NodeProcess): Promise<() => boolean> {
  const { url, token } = node
  const params = [await neverMined(node), 5, -1, true]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Filecoin.StateWaitMsg', params })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const call = request(`${url}/rpc/v1`, { method: 'POST', headers })
  let waits = true
  call.on('error', () => undefined)
  call.on('response', (response) => {
    waits = false
    response.on('error', () => undefined).resume()
  })
  await new Promise<void>((sent) => call.end(body, sent))
  return () => waits
}

/** Resolves with the exit code of a process that this test started. */
function exitOf(node: NodeProcess, signal: NodeJS.Signals): Promise<number | null> {
  process.kill(node.pid, signal)
  return node.exited
}

describe.each(Object.keys(RUNTIMES))('signals in %s', { timeout: 120_000, retry: 3 }, (runtime) => {
  it('SIGTERM: in order, told, within five seconds; SIGINT alike', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const node = await start(runtime, signal, [...DEVNET, '--no-net'])
      const waits = await endlessCall(node)
      const client = new RpcClient(node.url, node.token)
      // A tipset later it would have been answered, had it an answer.
      const height = async (): Promise<number> => ((await client.call('ChainHead')) as { Height: number }).Height
      const before = await height()
      await until(async () => (await height()) > before, 'a tipset')
      expect(waits()).toBe(true)
      const started = performance.now()
      expect(await exitOf(node, signal)).toBe(0)
      expect(performance.now() - started).toBeLessThan(FORCED_STOP_MS + 1000)
      const told = node.output().match(/^stopp.*$/gm)
      expect(told).toEqual([
        'stopping: calls under way',
        'stopping: peers, machine, keys',
        'stopping: store',
        'stopped',
      ])
      expect(existsSync(join(node.home, 'api'))).toBe(false)
    }
  })

  it('SIGTERM while it opens: the same, and no error', async () => {
    const home = join(folder, `${runtime}-opening`)
    const [program = '', ...args] = RUNTIMES[runtime] as readonly string[]
    // A light node without anybody to ask waits for its first final tipset.
    const light = ['daemon', '--network', 'mainnet', '--validate', 'light', '--no-net', '--api', '0']
    const child = spawn(program, [...args, '--repo', home, ...light], { cwd: ROOT })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
    const exited = once(child, 'exit')
    await until(() => output.includes('no final tipset yet'), 'it waits')
    child.kill('SIGTERM')
    expect((await exited)[0]).toBe(0)
    expect(output).not.toContain('ERROR')
    expect(output).toMatch(/^stopped$/m)
  })

  it('a second signal ends it at once', async () => {
    let code: number | null = 0
    // A stop may be over before the second signal is heard: then once more. Were it not heard at all, each would end with 0.
    for (let i = 0; i < STOPS_TRIED && code === 0; i++) {
      const node = await start(runtime, 'second', [...DEVNET, '--no-net'])
      const { hostname, port } = new URL(node.url)
      // A request that stays unfinished: a stop in Node waits two seconds for it.
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      const head = `POST /rpc/v1 HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${node.token}\r\ncontent-length: 100\r\n\r\n{`
      await new Promise<void>((resolve) => socket.write(head, () => resolve()))
      process.kill(node.pid, 'SIGTERM')
      code = await exitOf(node, 'SIGINT')
      socket.destroy()
      if (code !== 0) expect(node.output()).not.toMatch(/^stopped$/m)
    }
    expect([130, 143]).toContain(code)
    // What it was told to do is on disk, and the lock of the dead is no obstacle.
    await start(runtime, 'second', [...DEVNET, '--no-net'])
  })

  it('SIGHUP: log, who may call, how much, and peers are read again', async () => {
    const listen = ['--listen', '/ip4/127.0.0.1/tcp/0']
    const node = await start(runtime, 'reload', [...DEVNET, ...listen])
    // Of the same chain: a node of another is sent away, and is not dialled again.
    const network = ['--network', join(node.home, 'network.json')]
    const other = await start(runtime, 'peer', ['daemon', '--api', '0', ...network, ...listen])
    await until(() => /other nodes on /.test(other.output()), 'the other listens')
    const peer = /other nodes on (\S+)/.exec(other.output())?.[1] ?? ''
    const client = new RpcClient(node.url, node.token)
    const allowed = async (): Promise<string | null> => {
      const headers = {
        origin: 'https://wallet.example',
        authorization: `Bearer ${node.token}`,
        'content-type': 'application/json',
      }
      const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainHead","params":[]}'
      return (await fetch(`${node.url}/rpc/v1`, { method: 'POST', headers, body })).headers.get(
        'access-control-allow-origin',
      )
    }
    const large = (): Promise<number> =>
      fetch(`${node.url}/rpc/v1`, {
        method: 'POST',
        headers: { authorization: `Bearer ${node.token}`, 'content-type': 'application/json' },
        body: `{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainHead","params":[]}${' '.repeat(20_000)}`,
      }).then(({ status }) => status)
    expect(await allowed()).toBe(null)
    expect(await large()).toBe(200)
    expect(await client.call('NetPeers')).toEqual([])
    const settings = [
      'log = "error"',
      'cors-origin = ["https://wallet.example"]',
      'api-max-req-size = 10000',
      // Who does not answer keeps nobody else from being dialled.
      `bootstrap = ["${NOBODY}", "${peer}"]`,
    ]
    writeFileSync(join(node.home, 'config.toml'), `[devnet]\n${settings.join('\n')}\n`)
    process.kill(node.pid, 'SIGHUP')
    await until(async () => (await allowed()) === 'https://wallet.example', 'the origin is allowed')
    expect(await large()).not.toBe(200)
    await until(async () => {
      if (((await client.call('NetPeers')) as unknown[]).length === 1) return true
      // A dial may fail on a busy machine: whoever sends the signal again has it tried again.
      await sleep(REDIAL_MS)
      return !process.kill(node.pid, 'SIGHUP')
    }, 'the peer is reached')
    expect(node.output()).not.toMatch(/options not read again/)
    // Blocks are no errors: from here on nothing is said of them.
    const said = node.output().length
    const height = async (): Promise<number> => ((await client.call('ChainHead')) as { Height: number }).Height
    const before = await height()
    await until(async () => (await height()) > before + 2, 'three blocks')
    expect(node.output().slice(said)).not.toMatch(/tipset/)
    // What is taken out of the file is as it was without it.
    writeFileSync(join(node.home, 'config.toml'), '[devnet]\nlog = "info"\ncors-origin = ["https://wallet.example"]\n')
    process.kill(node.pid, 'SIGHUP')
    await until(async () => (await large()) === 200, 'the bound is the default again')
    writeFileSync(join(node.home, 'config.toml'), '[devnet]\nlog = "info"\nfoo = 1\n')
    process.kill(node.pid, 'SIGHUP')
    await until(() => /options not read again.*foo/.test(node.output()), 'the refusal')
    expect(await allowed()).toBe('https://wallet.example')
  })

  it('SIGHUP: whose word for a client counts is read again', async () => {
    const node = await start(runtime, 'proxies', [...DEVNET, '--no-net'])
    const { perAddress } = COST_LIMITS.wait
    const message = await neverMined(node)
    /** One client, as a proxy on this machine tells of it. */
    const client = async (address: string) => {
      const socket = new WebSocket(`${node.url.replace('http', 'ws')}/rpc/v1`, {
        headers: { 'x-forwarded-for': address },
      })
      await once(socket, 'open')
      const send = (id: number, method: string, params: unknown[]): void =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: `Filecoin.${method}`, params }))
      const answers = new Map<number, PromiseWithResolvers<string>>()
      const slot = (id: number): PromiseWithResolvers<string> => {
        const known = answers.get(id) ?? Promise.withResolvers<string>()
        answers.set(id, known)
        return known
      }
      socket.on('message', (data) => slot(JSON.parse(String(data)).id).resolve(String(data)))
      const answer = (id: number): Promise<string> => slot(id).promise
      const wait = (id: number): void => send(id, 'StateWaitMsg', [message, 5, -1, true])
      return { socket, send, answer, wait }
    }
    /** Whether a second client still has waits when the first one has all that an address may have. */
    const isApart = async (): Promise<boolean> => {
      const [first, second] = [await client('203.0.113.1'), await client('203.0.113.2')]
      for (let i = 0; i < perAddress; i++) first.wait(i)
      const all = first.answer(perAddress)
      first.send(perAddress, 'ChainHead', [])
      await all
      // One that is refused is answered; one that waits is ended by the client, which is answered as well.
      const answered = second.answer(1)
      second.wait(1)
      second.socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'xrpc.cancel', params: [1] }))
      const text = await answered
      for (const { socket } of [first, second]) socket.terminate()
      return !text.includes('too many calls')
    }
    expect(await isApart()).toBe(false)
    writeFileSync(join(node.home, 'config.toml'), '[devnet]\ntrusted-proxy = ["127.0.0.1"]\n')
    process.kill(node.pid, 'SIGHUP')
    await until(() => /options read again/.test(node.output()), 'the options')
    expect(await isApart()).toBe(true)
    writeFileSync(join(node.home, 'config.toml'), '[devnet]\ntrusted-proxy = ["0.0.0.0/0"]\n')
    process.kill(node.pid, 'SIGHUP')
    await until(() => /options not read again.*everybody/.test(node.output()), 'the refusal')
    expect(await isApart()).toBe(true)
  })

  it('SIGHUP while it starts: it starts, and reads the options again when it can', async () => {
    const home = join(folder, `${runtime}-early`)
    const ready = start(runtime, 'early', [...DEVNET, '--no-net'])
    const lock = join(home, 'petrel.lock')
    await until(() => existsSync(lock) && readFileSync(lock, 'utf8') !== '', 'the home is taken')
    const pid = Number(readFileSync(lock, 'utf8').split(' ')[0])
    expect(existsSync(join(home, 'api'))).toBe(false)
    process.kill(pid, 'SIGHUP')
    const node = await ready
    expect(node.pid).toBe(pid)
    await until(() => /options read again/.test(node.output()), 'the options are read again')
    expect(await node.stop()).toBe(0)
  })

  it('the log file is put aside when it is full', async () => {
    const logs = join(folder, `${runtime}-log`, 'logs')
    mkdirSync(logs, { recursive: true, mode: 0o700 })
    const file = join(logs, 'petrel.log')
    writeFileSync(file, 'the old one\n')
    truncateSync(file, FULL_LOG)
    const node = await start(runtime, 'log', [...DEVNET, '--no-net', '--log-file'])
    await until(() => existsSync(`${file}.1`) && statSync(file).size > 0, 'the rotation')
    expect(statSync(`${file}.1`).size).toBe(FULL_LOG)
    await node.stop()
    expect(readFileSync(file, 'utf8')).toMatch(/ INFO /)
  })
})
