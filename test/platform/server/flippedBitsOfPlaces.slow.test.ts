/**
 * Flipped bits in where messages lie (`messages/`): a row is the one that was written, or is missing; what cannot be opened is begun anew,
 * which is said; and the node goes on.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startNode } from '../../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../../support/rpcClient.ts'
import { seeded } from '../../support/seeded.ts'
import { StoreReader } from './askReader.ts'

const ARGS = ['devnet', '--api', '0', '--no-net', '--manual', '--actors', 'native']
const MESSAGES = 40
const FLIPS = 300
const PAGE = 4096
const ANEW = 'where messages lie is noted anew'
const folder = mkdtempSync(join(tmpdir(), 'petrel-places-bits-'))
const home = join(folder, 'home')
const target = join(folder, 'messages')
const reader = new StoreReader('placesReader.ts')
const { int } = seeded('flipped bits of places')
let first: Answer
let [data, lock] = [new Uint8Array(0), new Uint8Array(0)]

beforeAll(async () => {
  const node = await startNode('node', home, ARGS)
  const client = new RpcClient(node.url, node.token)
  const from: string = await client.call('WalletDefaultAddress')
  for (let i = 0; i < MESSAGES; i++) {
    const sent = await client.call('MpoolPushMessage', { From: from, To: from, Value: '1' }, null)
    first ??= sent.CID
    await client.call('DevnetMine', 1, null)
  }
  await node.stop()
  const read = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(home, 'messages', name)))
  ;[data, lock] = [read('data.mdb'), read('lock.mdb')]
}, 120_000)
afterAll(() => {
  reader.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens these files. @returns undefined when LMDB has ended the process */
async function open(
  file: Uint8Array,
  locks?: Uint8Array,
): Promise<{ rows: readonly string[]; said: string } | undefined> {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  writeFileSync(join(target, 'data.mdb'), file)
  if (locks !== undefined) writeFileSync(join(target, 'lock.mdb'), locks)
  const answer = await reader.ask(target)
  return answer && { rows: answer.values.split(' ').filter((row) => row !== ''), said: answer.faults }
}

function flipped(content: Uint8Array, at: number): Uint8Array {
  const changed = content.slice()
  changed[at] = (changed[at] as number) ^ (1 << int(8))
  return changed
}

describe('a flipped bit', () => {
  test('in data.mdb: every row is what was written or is missing, and what cannot be opened is begun anew', async () => {
    const sound = await open(data)
    expect(sound?.said).toBe('written')
    expect(sound?.rows.length).toBeGreaterThan(MESSAGES)
    const known = new Set(sound?.rows)
    // Most of the file was never written.
    const used = [...data.keys()].filter((at) => data[at] !== 0)
    const seen = { same: 0, fewer: 0, named: 0, anew: 0, ended: 0 }
    const wrong: unknown[] = []
    for (let i = 0; i < FLIPS; i++) {
      // The first two pages say where everything is.
      const at = i % 4 === 0 ? int(2 * PAGE) : (used[int(used.length)] as number)
      const answer = await open(flipped(data, at))
      if (answer === undefined) seen.ended++
      else if (answer.said.startsWith(ANEW)) {
        seen.anew++
        if (answer.rows.length > 0 || answer.said !== `${ANEW}, written`) wrong.push([at, answer])
      } else if (/^[A-Z_]+$/.test(answer.rows[0] ?? '')) seen.named++
      else if (!answer.rows.every((row) => known.has(row))) wrong.push([at, answer])
      else if (answer.rows.length < known.size) seen.fewer++
      else seen.same++
    }
    console.log(seen)
    expect(wrong).toEqual([])
    expect(seen.ended).toBeLessThan(FLIPS / 50)
    expect(seen.named).toBeGreaterThan(FLIPS / 10)
    expect(seen.anew).toBeGreaterThan(0)
  }, 300_000)

  test('in the name of a table, a cut and no LMDB at all: begun anew', async () => {
    const renamed = Buffer.from(data)
    for (let at = renamed.indexOf('values\0'); at >= 0; at = renamed.indexOf('values\0', at + 1)) renamed[at + 2]! ^= 1
    expect(renamed.equals(data)).toBe(false)
    for (const file of [renamed, data.subarray(0, 3 * PAGE), new Uint8Array(16 * PAGE).fill(1)]) {
      expect(await open(file)).toEqual({ rows: [], said: `${ANEW}, written` })
    }
  }, 60_000)

  test('in lock.mdb: all rows are there', async () => {
    const sound = await open(data)
    for (let i = 0; i < 40; i++) {
      const at = int(i % 2 === 0 ? 128 : lock.length)
      expect(await open(data, flipped(lock, at))).toEqual(sound)
    }
  }, 120_000)

  test('under a node: it says so, and finds its messages', async () => {
    const copy = join(folder, 'copy')
    cpSync(home, copy, { recursive: true })
    const file = join(copy, 'messages', 'data.mdb')
    const damaged = data.slice()
    // The magic number of both meta pages. @see lmdb mdb.c MDB_MAGIC
    for (const page of [0, PAGE]) damaged[page + 24] = (damaged[page + 24] as number) ^ 1
    writeFileSync(file, damaged)
    const node = await startNode('node', copy, ARGS)
    const client = new RpcClient(node.url, node.token)
    expect(node.output()).toContain(ANEW)
    expect(await client.call('StateSearchMsg', [], first, -1, true)).toMatchObject({ Message: first })
    await client.call('DevnetMine', 2, null)
    await node.stop()
    expect(readdirSync(join(copy, 'messages')).sort()).toEqual(['data.mdb', 'lock.mdb'])
    expect(node.output()).not.toContain('BUG')
  }, 60_000)
})
