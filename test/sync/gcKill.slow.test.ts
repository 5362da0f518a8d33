/** kill -9 in the middle of collections on disk: the chain goes on where it was, and nothing of it is lost. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { LmdbEnvironment } from '../../platform/server/lmdbStore.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { seeded } from '../support/seeded.ts'
import { Model } from './gcModel.ts'

const KILLS = 6

describe('a process killed while it collects', () => {
  beforeAll(() => initCrypto())

  it('loses nothing', async () => {
    const random = seeded('killed collections')
    const path = mkdtempSync(join(tmpdir(), 'petrel-killed-'))
    const heights: number[] = []
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        const seed = String(random.int(1e9))
        const victim = spawn(process.execPath, [join(import.meta.dirname, 'gcVictim.ts'), path, seed])
        let errors = ''
        victim.stderr.on('data', (data: Buffer) => {
          errors += data.toString()
        })
        await new Promise<void>((resolve, reject) => {
          victim.stdout.on('data', (data: Buffer) => {
            if (data.toString().includes('ready')) resolve()
          })
          victim.on('exit', () => reject(new Error(`seed ${seed}: ${errors}`)))
        })
        await sleep(100 + random.int(900))
        victim.removeAllListeners('exit')
        expect(victim.exitCode, errors).toBe(null)
        victim.kill('SIGKILL')
        await new Promise((resolve) => victim.on('exit', resolve))
        const environment = new LmdbEnvironment({ path })
        const model = new Model(random, environment.blocks, environment.meta)
        model.check()
        heights.push(model.store.head().height)
        await environment.close()
      }
    } finally {
      rmSync(path, { recursive: true })
    }
    expect(heights.at(-1)).toBeGreaterThan(heights[0] as number)
  }, 120_000)
})
