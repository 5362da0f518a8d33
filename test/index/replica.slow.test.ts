/** A writer and two replicas as processes: one is killed, one lags behind its index. No answer is wrong or torn. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { STANDING_MS } from '../../src/index/limits.ts'
import { tipsetKeyCid } from '../../src/types/tipset.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { Valve } from '../support/valve.ts'
import { ask, type Result } from './askedProcess.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

const BLOCK_TIME = '1'
const FIL = 10n ** 18n
/** Name of the API secret's file: base32 of `auth-jwt-private`. */
const API_SECRET = 'MF2XI2BNNJ3XILLQOJUXMYLUMU'

describe.skipIf(missing !== undefined)('replicas', () => {
  let postgres: TestPostgres
  let valve: Valve
  let writer: NodeProcess
  let writerHome: string
  let replicas: [NodeProcess, NodeProcess]
  const homes: string[] = []
  const home = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'petrel-replica-'))
    homes.push(made)
    return made
  }

  beforeAll(async () => {
    postgres = await TestPostgres.start()
    const url = new URL(postgres.url())
    valve = new Valve(url)
    writerHome = home()
    writer = await startNode('node', writerHome, [
      ...['devnet', '--api', '0', '--no-net', '--actors', 'native', '--block-time', BLOCK_TIME],
      ...['--index', String(url), '--index-from', '0'],
    ])
    const api = `${readFileSync(join(writerHome, 'token'), 'utf8').trim()}:${readFileSync(join(writerHome, 'api'), 'utf8').trim()}`
    const start = (index: string): Promise<NodeProcess> => {
      const own = home()
      // Tokens of the writer are good here, too.
      cpSync(join(writerHome, 'keystore', API_SECRET), join(own, 'keystore', API_SECRET))
      return startNode('node', own, [
        ...['replica', '--api', '0', '--network', join(writerHome, 'network.json'), '--index', index],
        ...['--blocks', writer.url, '--writer', api],
      ])
    }
    replicas = [await start(String(url)), await start(valve.url(url))]
  }, 120_000)
  afterAll(async () => {
    valve?.end()
    for (const node of [...(replicas ?? []), writer]) await node?.kill()
    await postgres?.end()
    for (const one of homes) rmSync(one, { recursive: true, force: true })
  })

  const height = async (node: NodeProcess): Promise<number> => (await ask(node, 'Filecoin.ChainHead', [])).result.Height
  const ready = async (node: NodeProcess): Promise<string> => {
    const response = await fetch(`${node.url}/health/readyz`)
    return `${response.status} ${await response.text()}`
  }

  test('answers, pushes, a killed one and one that lags', { timeout: 150_000 }, async () => {
    const [first, second] = replicas
    const customer = 't1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za'
    const { result: payer } = await ask(writer, 'Filecoin.WalletDefaultAddress', [], undefined, writer.token)
    const deposits: string[] = []
    /** Through a replica, which has no key: the writer signs. */
    const deposit = async (through: NodeProcess): Promise<Result> => {
      const value = String(BigInt(deposits.length + 1) * FIL)
      const message = { Version: 0, From: payer, To: customer, Value: value, Nonce: 0, Method: 0, Params: null }
      const fees = { GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
      const answer = await ask(
        through,
        'Filecoin.MpoolPushMessage',
        [{ ...message, ...fees }, null],
        undefined,
        through.token,
      )
      expect(answer.error).toBeUndefined()
      deposits.push(value)
      return answer.result
    }
    /** Answers that are compared at the end with what the writer says. */
    const blocks: Result[] = []
    const lists: { height: number; values: string[] }[] = []
    const epochs = new Map<NodeProcess, number>()
    const look = async (node: NodeProcess): Promise<void> => {
      const block = await ask(node, 'eth_getBlockByNumber', ['latest', true])
      expect(block.error).toBeUndefined()
      blocks.push(block.result)
      expect(block.epoch).toBeGreaterThanOrEqual(epochs.get(node) ?? 0)
      epochs.set(node, block.epoch)
      // The newest executed tipset of a head that is named before is that head's parent at least.
      expect(Number(block.result.number)).toBeGreaterThanOrEqual(block.epoch - 1)
      const { result, error } = await ask(node, 'Filecoin.ChainListTransfers', [customer, 0, -1, '', 0])
      expect(error).toBeUndefined()
      lists.push({
        height: Number(result.Position.split(':')[0]),
        values: result.Transfers.map(({ Value: value }) => value),
      })
    }

    const signed = await deposit(first)
    // The caller waits through a replica that has never seen the message.
    const waited = await ask(second, 'Filecoin.StateWaitMsg', [signed.CID, 0, -1, true])
    expect(waited.result?.Receipt.ExitCode, JSON.stringify(waited.error)).toBe(0)
    for (let i = 0; i < 4; i++) {
      await deposit(i % 2 === 0 ? first : second)
      await Promise.all([look(first), look(second)])
      await sleep(700)
    }
    // A head that the writer has, asked of both.
    const wanted = await height(writer)
    for (const node of replicas) {
      const answer = await ask(node, 'Filecoin.ChainHead', [], wanted)
      expect(answer.result.Height).toBeGreaterThanOrEqual(wanted)
    }

    // One lags: it stays right at its own head, and refuses what it does not have.
    valve.shut()
    const stood = await height(second)
    await vi.waitFor(async () => expect(await height(writer)).toBeGreaterThan(stood + 4), {
      timeout: 30_000,
      interval: 200,
    })
    const behind = await ask(second, 'eth_blockNumber', [], stood + 4)
    expect([behind.status, behind.error?.message]).toEqual([503, expect.stringContaining(`wants ${stood + 4}`)])
    expect((await ask(first, 'eth_blockNumber', [], stood + 4)).status).toBe(200)
    // Within the bound and a look; what it asked before is on its way still.
    const hangs = /^503 [\s\S]*an unknown number of epochs behind its index: the index has not answered since 20\d\d-/
    await vi.waitFor(async () => expect(await ready(second)).toMatch(hangs), {
      timeout: 2 * STANDING_MS,
      interval: 200,
    })
    await deposit(first)
    await look(first)
    const lagging = await ask(second, 'eth_getBlockByNumber', ['latest', true])
    expect(lagging.epoch).toBeLessThanOrEqual(stood + 1)
    blocks.push(lagging.result)

    // One is killed in the midst of questions; the other goes on.
    const asked = Promise.allSettled(Array.from({ length: 30 }, () => look(first)))
    await first.kill()
    const ends = await asked
    for (const end of ends) if (end.status === 'rejected') expect(String(end.reason)).not.toContain('AssertionError')
    valve.open()
    await vi.waitFor(async () => expect(await height(second)).toBeGreaterThan(stood + 4), {
      timeout: 60_000,
      interval: 200,
    })
    expect(await ready(second)).toMatch(/^200 [\s\S]*replica at epoch \d+, \d+ epochs behind its index/)
    await deposit(second)
    await look(second)

    // Every answer was of one chain, as the writer has it.
    const last = Math.max(...lists.map((one) => one.height))
    const { result: all } = await ask(writer, 'Filecoin.ChainListTransfers', [customer, 0, last, '', 0])
    for (const list of lists) {
      const expected = all.Transfers.filter(({ Height }) => Height <= list.height)
      expect(list.values).toEqual(expected.map(({ Value: value }) => value))
    }
    const told = all.Transfers.map(({ Value: value }) => value)
    expect(told).toEqual(deposits.slice(0, told.length))
    expect(told.length).toBeGreaterThan(4)
    for (const block of blocks) {
      expect((await ask(writer, 'eth_getBlockByHash', [block.hash, true])).result).toEqual(block)
    }
    console.log(
      `${blocks.length} blocks and ${lists.length} lists compared, ${deposits.length} deposits through replicas`,
    )
  })

  test('every answer is of one chain while the writer is reorganised', { timeout: 120_000 }, async () => {
    const [, second] = replicas
    /** Hashes from a block of the writer's down to a height. */
    const below = async (hash: string, height: number): Promise<Map<number, string>> => {
      const found = new Map<number, string>()
      for (let at = hash; ; ) {
        const { result } = await ask(writer, 'eth_getBlockByHash', [at, false])
        found.set(Number(result.number), at)
        if (Number(result.number) <= height) return found
        at = result.parentHash
      }
    }
    const told: Result[] = []
    let isOver = false
    const asking = (async () => {
      while (!isOver) {
        const { result, error } = await ask(second, 'Filecoin.ChainListTransfers', ['t02', 0, -1, '', 0])
        expect(error).toBeUndefined()
        told.push(result)
        const block = await ask(second, 'eth_getBlockByNumber', ['latest', true])
        expect(block.error).toBeUndefined()
        expect((await ask(writer, 'eth_getBlockByHash', [block.result.hash, true])).result).toEqual(block.result)
      }
    })()
    for (let i = 0; i < 4; i++) {
      const options = { NullRounds: 0, Fork: 3 }
      const mined = await ask(writer, 'Filecoin.DevnetMine', [1, options], undefined, writer.token)
      expect(mined.error).toBeUndefined()
      await sleep(1500)
    }
    isOver = true
    await asking
    const seen = new Map(told.map(({ Position }) => [Position.split(':')[1] ?? '', Number(Position.split(':')[0])]))
    const latest = await ask(writer, 'eth_getBlockByNumber', ['latest', false])
    const kept = await below(latest.result.hash, Math.min(...seen.values()))
    // Some of what was told is no longer on the chain.
    const left = [...seen].filter(([hash, height]) => kept.get(height) !== `0x${hash}`)
    expect(left.length).toBeGreaterThan(0)
    for (const { Position, Transfers } of told) {
      const [, hash] = Position.split(':')
      const lowest = Math.max(0, Number(Position.split(':')[0]) - 12)
      const chain = await below(`0x${hash}`, lowest)
      for (const { Height, TipSet } of Transfers.filter((one) => one.Height >= lowest)) {
        const name = tipsetKeyCid(TipSet.map((one) => parseCid(one['/']))).digest
        expect(`0x${toHex(name)}`).toBe(chain.get(Height))
      }
    }
    console.log(`${told.length} lists of ${seen.size} tipsets, ${left.length} of them reorganised away`)
  })

  test('what a replica refuses', async () => {
    const [, second] = replicas
    const head = await ask(second, 'Filecoin.ChainSetHead', [[]], undefined, writer.token)
    expect(head.error?.message).toContain('not supported: a replica changes nothing')
    // Its own token and permissions decide before anything is passed on.
    const push = await ask(second, 'Filecoin.MpoolPush', [null])
    expect(push.error?.message).toContain("missing permission to invoke 'MpoolPush'")
  })
})
