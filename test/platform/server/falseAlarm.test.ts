/**
 * A commit that lmdb gives up although nothing is wrong (mdb.c, mdb_freelist_save: a size that nobody has set is taken for that of a record
 * of free pages). A headers follower of 2,420 epochs died of one. What LMDB does then is done here: nothing of the commit is written.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'

const BAD_TXN = -30782
const alarm = { left: 0, text: '' }

function raise(): Error {
  alarm.left--
  return Object.assign(new Error(`MDB_BAD_TXN: Transaction must abort: ${alarm.text}`), { code: BAD_TXN })
}

function openAlarmed(options: RootDatabaseOptionsWithPath): RootDatabase {
  const root = open(options)
  const sync = root.transactionSync.bind(root)
  root.transactionSync = (run) =>
    sync(() => {
      const result = run()
      if (alarm.left > 0) throw raise()
      return result
    })
  const openTable = root.openDB.bind(root)
  root.openDB = ((...args: Parameters<typeof openTable>) => {
    const table = openTable(...args)
    const batch = table.batch.bind(table)
    table.batch = (run) => {
      if (alarm.left === 0) return batch(run)
      // As lmdb says it: by a promise beside an error that names no reason.
      const commitError = Promise.reject(raise())
      commitError.catch(() => undefined)
      return Promise.reject(Object.assign(new Error('Commit failed'), { commitError }))
    }
    return table
  }) as typeof openTable
  return root
}

const folder = mkdtempSync(join(tmpdir(), 'petrel-alarm-'))
let number = 0
let environment: LmdbEnvironment
const block = utf8('a block')
const op = { op: 'put', key: utf8('a'), value: utf8('1') } as const

beforeAll(async () => void (await initCrypto()))
beforeEach(() => {
  alarm.left = 0
  alarm.text = 'reserved freelist had a data entry with zero-size, last id 1\n'
  environment = new LmdbEnvironment({ path: join(folder, String(number++)), open: openAlarmed as typeof open })
  environment.blocks.put(blockCid(block), block)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ways = {
  'in this thread': (): Promise<void> => new Promise((resolve) => resolve(environment.meta.batch([op]))),
  aside: (): Promise<void> => environment.meta.commit([op]),
}

describe.each(Object.entries(ways))('a commit that is given up for nothing, %s', (_, write) => {
  it('is made again, as a whole', async () => {
    alarm.left = 2
    await write()
    expect(alarm.left).toBe(0)
    const path = join(folder, String(number - 1))
    await environment.close()
    const again = new LmdbEnvironment({ path })
    expect(again.meta.get(op.key)).toEqual(op.value)
    expect(again.blocks.get(blockCid(block))).toEqual(block)
    await again.close()
  })

  it('is the last one when it fails again and again', async () => {
    alarm.left = 3
    await expect(write()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(alarm.left).toBe(0)
    expect(environment.meta.get(op.key)).toBeUndefined()
    await expect(write()).rejects.toMatchObject({ code: 'STORE_FAILED' })
  })

  it('is not made again for another reason', async () => {
    alarm.left = 1
    alarm.text = 'reserved freelist is damaged'
    await expect(write()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(environment.meta.get(op.key)).toBeUndefined()
    expect(environment.meta.whyUnwritable?.()).toContain('reserved freelist is damaged')
  })
})
