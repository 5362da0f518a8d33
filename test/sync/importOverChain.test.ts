/** `petrel snapshot import` into a home that has a chain: refused, with a way that leads to the snapshot. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../../platform/cli/program.ts'
import { openArchiveFile } from '../../platform/server/archiveFile.ts'
import { LmdbEnvironment } from '../../platform/server/lmdbStore.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { silentLog } from '../support/recordedView.ts'
import { missingShared, sharedPath } from '../support/shared.ts'

const KEPT = 12
const HEAD = 128
const MESSAGE = utf8('payments/message/1')

describe.skipIf(missingShared('data/golden/wire') !== undefined)('a snapshot for a home that has a chain', () => {
  let folder = ''
  let snapshot = ''
  beforeAll(() => initCrypto())
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-import-'))
    snapshot = join(folder, 'snapshot.car')
    writeFileSync(snapshot, zstdDecompressSync(readFileSync(sharedPath('data/golden/wire/chain.car.zst'))))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  async function petrel(...args: string[]): Promise<{ code: number; said: string }> {
    let said = ''
    const say = (text: string): void => {
      said += text
    }
    const io = {
      out: say,
      err: say,
      env: {},
      userHome: folder,
      isTty: false,
      stdin: () => Promise.resolve(''),
      readFile: (path: string) => Promise.resolve(readFileSync(path, 'utf8')),
      signal: new AbortController().signal,
      now: () => Date.now(),
      sleep: () => Promise.resolve(),
    }
    return { code: await runCli(args, { io, version: 'test' }), said }
  }

  /** A home whose chain has come to {@link KEPT}. */
  async function makeHome(config: object): Promise<string> {
    const home = join(folder, 'home')
    mkdirSync(home)
    const network = sharedPath('data/golden/wire/network.json')
    writeFileSync(join(home, 'config.json'), JSON.stringify({ network, ...config }))
    const archive = await openArchiveFile(snapshot, { home: folder })
    await archive.ready
    const { roots } = archive.store
    const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive.store])
    const whole = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots })
    const environment = new LmdbEnvironment({ path: join(home, 'chain') })
    const kept = new ChainStore({ blocks: environment.blocks, meta: environment.meta, log: silentLog })
    const head = whole.tipsetByHeight(KEPT, undefined, 'next')
    kept.setGenesis(firstBlock(whole.genesis()))
    for (let height = 1; height <= head.height; height++) {
      for (const block of whole.tipsetByHeight(height, undefined, 'next').blocks) kept.putHeader(block)
    }
    kept.setHead(head)
    environment.meta.put(MESSAGE, utf8('sent'))
    await environment.close()
    await archive.close()
    return home
  }

  /** The head that a node begins with; it keeps it. */
  async function startedHead(home: string): Promise<number> {
    const environment = new LmdbEnvironment({ path: join(home, 'chain') })
    const archive = await openArchiveFile(snapshot, { home: folder })
    await archive.ready
    const blocks = new LayeredBlockstore([environment.blocks, archive.store])
    const chain = openChain({ blocks, meta: environment.meta, log: silentLog, roots: archive.store.roots })
    expect(environment.meta.get(MESSAGE)).toEqual(utf8('sent'))
    await environment.close()
    await archive.close()
    return chain.head().height
  }

  it('is refused with both heads, and taken by a home that the backup was restored to', async () => {
    const home = await makeHome({})
    const config = readFileSync(join(home, 'config.json'), 'utf8')
    const refused = await petrel('--repo', home, 'snapshot', 'import', snapshot)
    expect(refused.code).toBe(2)
    expect(refused.said).toContain(`head is at epoch ${KEPT}, that of the snapshot at epoch ${HEAD}`)
    expect(readFileSync(join(home, 'config.json'), 'utf8')).toBe(config)
    expect(await startedHead(home)).toBe(KEPT)

    const [backup, other] = [join(folder, 'backup'), join(folder, 'other')]
    expect(refused.said).toMatch(/petrel backup <file> and petrel --repo <other> restore <file>/)
    expect((await petrel('--repo', home, 'backup', '--insecure', backup)).code).toBe(0)
    expect((await petrel('--repo', other, 'restore', backup)).code).toBe(0)
    const imported = await petrel('--repo', other, 'snapshot', 'import', snapshot)
    expect(imported.said).toContain('imported into')
    expect(await startedHead(other)).toBe(HEAD)
    // Its own, from which it goes on, may be looked through again.
    expect((await petrel('--repo', other, 'snapshot', 'import', snapshot)).code).toBe(0)
  })

  it('is refused under the name of an older one, too, and before it is downloaded', async () => {
    const home = await makeHome({ snapshot })
    const refused = await petrel('--repo', home, 'snapshot', 'import', snapshot)
    expect([refused.code, refused.said]).toEqual([2, expect.stringContaining(`at epoch ${HEAD}`)])
    writeFileSync(join(home, 'config.json'), '{}')
    // Nobody is there: an attempt would say so.
    const unfetched = await petrel('--repo', home, 'snapshot', 'import', 'http://127.0.0.1:1/snapshot.car')
    expect([unfetched.code, unfetched.said]).toEqual([2, expect.stringContaining(`head is at epoch ${KEPT}. `)])
    expect(existsSync(join(home, 'petrel.lock'))).toBe(false)
  })
})
