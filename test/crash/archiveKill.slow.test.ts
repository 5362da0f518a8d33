/**
 * kill -9 in the midst of what is written beside the store: the index of a snapshot, and an export. Under its name there is the whole
 * file or none; what was begun is made anew, and nothing is left behind.
 */
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openArchiveFile } from '../../platform/server/archiveFile.ts'
import { carBytes } from '../../src/archive/car.ts'
import { equalBytes } from '../../src/base/bytes.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { startLocalChain } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { seeded } from '../support/seeded.ts'
import { until } from '../support/until.ts'

const KILLS = 6
const BLOCKS = 60_000
const EXPORTED_EPOCH = 10
const MODULE = fileURLToPath(new URL('../../platform/server/archiveFile.ts', import.meta.url))
const CRYPTO = fileURLToPath(new URL('../../src/crypto/init.ts', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../../bin/petrel.js', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'petrel-archive-kill-'))
const { int, bytes: randomBytes } = seeded('kills of archives')
beforeAll(() => initCrypto())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs Node with these arguments; kills it after so many ms. @returns how long it took, undefined: it was killed */
async function run(args: readonly string[], home: string, killMs?: number): Promise<number | undefined> {
  const began = performance.now()
  const env = { ...process.env, PETREL_HOME: home }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  const timer = killMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killMs)
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve))
  clearTimeout(timer)
  if (code !== null) expect(code).toBe(0)
  return code === null ? undefined : performance.now() - began
}

describe('kill -9', () => {
  test('in the making of an index: the next start makes it, and every block is there', async () => {
    const home = join(folder, 'indexed')
    mkdirSync(home)
    const path = join(home, 'chain.car')
    const index = `${path}.petrel-index`
    const blocks: (readonly [Cid, Uint8Array])[] = Array.from({ length: BLOCKS }, () => {
      // Not what looks like the metadata of a snapshot: the first one is the root.
      const data = Uint8Array.of(0, ...randomBytes(29))
      return [blockCid(data, CODEC_RAW), data]
    })
    writeFileSync(path, carBytes([blocks[0]![0]], blocks))
    const script = `
      import { openArchiveFile } from ${JSON.stringify(MODULE)}
      import { initCrypto } from ${JSON.stringify(CRYPTO)}
      await initCrypto()
      const archive = await openArchiveFile(${JSON.stringify(path)}, { home: ${JSON.stringify(home)}, smallBytes: 0 })
      await archive.ready
      archive.close()`
    const make = (killMs?: number): Promise<number | undefined> =>
      run(['--input-type=module', '-e', script], home, killMs)
    let wholeMs = (await make()) as number
    const sound = readFileSync(index)
    for (let kills = 0; kills < KILLS; ) {
      rmSync(index)
      const took = await make(wholeMs * (0.3 + int(700) / 1000))
      // On another day it is faster.
      if (took === undefined) kills++
      else wholeMs = Math.min(wholeMs, took)
      // As some minutes later: what is younger may be another process'.
      for (const name of readdirSync(home)) if (name.includes('.part-')) utimesSync(join(home, name), 0, 0)
      if (!existsSync(index)) await make()
      expect(equalBytes(readFileSync(index), sound)).toBe(true)
      expect(readdirSync(home).sort()).toEqual(['chain.car', 'chain.car.petrel-index'])
    }
    const archive = await openArchiveFile(path, { home, smallBytes: 0 })
    expect(archive.isReady).toBe(true)
    for (const [cid, data] of blocks.slice(0, 2000)) expect(equalBytes(archive.store.get(cid)!, data)).toBe(true)
    await archive.close()
  }, 300_000)

  test('in an export: under its name there is all of it or nothing', async () => {
    const home = join(folder, 'home')
    const node = await startLocalChain(home)
    try {
      const client = new RpcClient(node.url, node.token)
      await until(async () => (await client.call('ChainHead')).Height > EXPORTED_EPOCH + 5, 'there is a chain')
      const out = join(folder, 'out')
      mkdirSync(out)
      const path = join(out, 'chain.car')
      const write = (killMs?: number): Promise<number | undefined> =>
        run([PROGRAM, 'snapshot', 'export', path, '--full', '--tipset', `@${EXPORTED_EPOCH}`], home, killMs)
      let wholeMs = (await write()) as number
      const whole = readFileSync(path)
      for (let kills = 0; kills < KILLS; ) {
        rmSync(path)
        const took = await write(wholeMs * (0.5 + int(500) / 1000))
        if (took === undefined) kills++
        else wholeMs = Math.min(wholeMs, took)
        if (!existsSync(path)) await write()
        expect(equalBytes(readFileSync(path), whole)).toBe(true)
        expect(readdirSync(out)).toEqual(['chain.car'])
      }
    } finally {
      await node.stop()
    }
  }, 300_000)
})
