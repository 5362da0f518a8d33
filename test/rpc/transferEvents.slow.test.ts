/** A standard EventSource follows deposits of a real node, while both are killed again and again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { freePort } from '../support/freePort.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { ROOT } from '../support/shared.ts'
import { until } from '../support/until.ts'

interface Transfer {
  readonly Kind: string
  readonly Message: { '/': string } | null
  readonly ToAddress: string
  readonly Value: string
}
interface TipsetSteps {
  readonly TipSet: { '/': string }[]
  readonly Transfers: Transfer[]
}
interface Line {
  readonly position: string
  readonly steps: { readonly Reverted: TipsetSteps[]; readonly Applied: TipsetSteps[] }
}

const ROUNDS = 3
const SENDS = 4

function linesOf(file: string): Line[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  // What a kill cut off was not booked.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Line)
}

/** What the file says arrived: the value by message, each counted as often as it was told. */
function booked(file: string, to: string): Map<string, { times: number; value: bigint }> {
  const out = new Map<string, { times: number; value: bigint }>()
  const book = (tipsets: readonly TipsetSteps[], sign: 1 | -1): void => {
    for (const { Transfers } of tipsets) {
      for (const { ToAddress, Value, Message } of Transfers) {
        if (ToAddress !== to || Message === null) continue
        const { times = 0, value = 0n } = out.get(Message['/']) ?? {}
        out.set(Message['/'], { times: times + sign, value: value + BigInt(sign) * BigInt(Value) })
      }
    }
  }
  for (const { steps } of linesOf(file)) {
    book(steps.Reverted, -1)
    book(steps.Applied, 1)
  }
  return out
}

describe('GET /transfers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-events-'))
  let node: NodeProcess | undefined
  let client: ChildProcess | undefined
  afterEach(async () => {
    client?.kill('SIGKILL')
    await node?.kill()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(['node', 'deno'])('%s: nothing is lost, nothing doubled', { timeout: 300_000 }, async (runtime) => {
    const home = mkdtempSync(join(folder, `${runtime}-`))
    const file = join(folder, `${runtime}-books`)
    const port = await freePort()
    const args = ['devnet', '--api', String(port), '--no-net', '--block-time', '0.2', '--actors', 'native']
    const begin = async (): Promise<NodeProcess> => {
      const started = await startNode(runtime, home, args)
      node = started
      return started
    }
    const said: string[] = []
    const listen = (): ChildProcess => {
      const child = spawn(process.execPath, [join(ROOT, 'test/rpc/eventClient.ts'), `http://127.0.0.1:${port}`, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child.stdout?.on('data', (chunk: Buffer) => said.push(chunk.toString('utf8')))
      client = child
      return child
    }
    let running = await begin()
    let rpc = new RpcClient(running.url, running.token)
    const [{ Address: from }] = (await rpc.call('DevnetAccounts')) as [{ Address: string }]
    const to: string = await rpc.call('WalletNew', 'secp256k1')
    let listener = listen()
    await until(() => linesOf(file).length > 0, 'the first line')
    const sent: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < SENDS; i++) {
        const message = { From: from, To: to, Value: '7', Method: 0, Params: null, Nonce: 0, Version: 0 }
        const gas = { GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
        const { CID } = await rpc.call('MpoolPushMessage', { ...message, ...gas }, null)
        sent.push(CID['/'])
      }
      await running.kill()
      if (round === 1) {
        listener.kill('SIGKILL')
        await once(listener, 'exit')
      }
      running = await begin()
      rpc = new RpcClient(running.url, running.token)
      if (round === 1) listener = listen()
      await until(() => booked(file, to).size >= sent.length, 'all is booked')
    }
    const books = booked(file, to)
    expect([...books.keys()].sort()).toEqual([...sent].sort())
    expect([...books.values()].every(({ times, value }) => times === 1 && value === 7n)).toBe(true)
    // It came again by itself: a connection that was refused or broke is no end.
    expect(said.join('')).toContain('state 0')
    expect(said.join('')).not.toContain('state 2')
    // Told in order, each once: a position leads to the next.
    const lines = linesOf(file)
    const keys = lines.flatMap(({ steps }) => steps.Applied.map(({ TipSet }) => TipSet.map((cid) => cid['/']).join()))
    const reverted = lines.flatMap(({ steps }) => steps.Reverted).length
    expect(keys.length - new Set(keys).size).toBeLessThanOrEqual(reverted)
    expect(lines.slice(1).every(({ steps, position }) => steps.Applied.length === 0 || position !== '')).toBe(true)
    // The node ends with a stream open.
    expect(await running.stop()).toBe(0)
  })
})
