/**
 * The database's disk runs full, again and again, and has room again: nothing is lost and nothing doubled. The disk is a file system in
 * memory, which only root can mount; elsewhere the test is skipped. More moments by hand:
 * `PETREL_KILLS=40 node scripts/vitest.ts test/index/smallDisk.slow.test.ts`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemCode } from '../../platform/server/errors.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { seeded } from '../support/seeded.ts'
import { mountSmallDisk } from '../support/smallDisk.ts'
import { allRows, freshRows, newDatabase } from './indexed.ts'
import { growTo } from './indexedChain.ts'
import { EPOCHS } from './kills.ts'

/** The server's own files, and some minutes of its log of changes. */
const DISK_BYTES = 200 * 1024 * 1024
const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)
const disk = missing === undefined ? mountSmallDisk('petrel-small-', DISK_BYTES) : undefined
const moments = Number(process.env.PETREL_KILLS ?? 10)
const WRITER = fileURLToPath(new URL('writerProcess.ts', import.meta.url))
/** Of one writer's chain. */
const MOMENTS = 5
const LONGEST_MS = 1000

/** Takes all room that there is. @returns what gives it back */
function fill(folder: string): () => void {
  const ballast = join(folder, 'ballast')
  try {
    for (let bytes = 1 << 20; bytes >= 1; ) {
      try {
        for (;;) appendFileSync(ballast, Buffer.alloc(bytes))
      } catch (error) {
        if (systemCode(error) !== 'ENOSPC') throw error
        bytes = Math.floor(bytes / 16)
      }
    }
  } catch (error) {
    rmSync(ballast, { force: true })
    throw error
  }
  return () => rmSync(ballast)
}

describe.skipIf(disk?.isMounted !== true)('a disk of the database that runs full', () => {
  const path = disk?.path ?? ''
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start(path)
  }, 60_000)
  afterAll(async () => {
    await server?.end()
    disk?.end()
  })

  test('at random moments', { timeout: 120_000 + 10_000 * moments }, async () => {
    const random = seeded('small disk')
    const expected = await freshRows((await growTo(EPOCHS)).node, await newDatabase(server.url(), 'fresh'))
    let ends = 0
    // On a busy machine a writer may have nothing to write in all of these moments: then there are more.
    for (let done = 0; done < moments || server.timesFull === 0; done += MOMENTS) {
      const url = await newDatabase(server.url(), `full_${done}`)
      for (let left = MOMENTS, isWritten = false; left > 0 || !isWritten; ) {
        const child = spawn(process.execPath, [WRITER, url, String(EPOCHS)], { stdio: ['ignore', 'pipe', 'inherit'] })
        const ended = once(child, 'exit')
        const words: string[] = []
        const lines = createInterface({ input: child.stdout }).on('line', (word) => words.push(word))
        await Promise.race([once(lines, 'line'), ended])
        while (left > 0 && child.exitCode === null) {
          await Promise.race([sleep(random.int(LONGEST_MS)), ended])
          if (child.exitCode !== null) break
          left--
          const free = fill(path)
          await sleep(random.int(LONGEST_MS))
          free()
          // It may have ended for want of room.
          if (server.hasEnded) {
            ends++
            await server.restart()
          }
        }
        const [code] = await ended
        if (code !== 0) throw new Error(`a writer ended with ${String(code)}`)
        isWritten = words.includes('done')
      }
      expect(await allRows(url, 'canonical'), `seed ${random.seed}`).toEqual(expected)
      console.log(`${done + MOMENTS} moments, disk full ${server.timesFull} times, server ended ${ends} times`)
    }
    expect(server.timesFull).toBeGreaterThan(0)
  })
})
