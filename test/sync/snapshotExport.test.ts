/** What a snapshot holds, in which order: compared with the files that a Lotus node wrote of the same chain. */
import { beforeAll, describe, expect, it } from 'vitest'
import { fromUtf8 } from '../../src/base/bytes.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import { walkSnapshot } from '../../src/sync/snapshot/walkSnapshot.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { openShared } from '../support/archives.ts'
import { missingShared, readSharedUnpacked } from '../support/shared.ts'

/** [CID, size, is actor code] of each block of a recorded snapshot. The code itself is not in the recorded chain. */
function recorded(name: string): readonly (readonly [string, number, boolean])[] {
  return fromUtf8(readSharedUnpacked(`data/golden/wire/${name}.cids.zst`))
    .trim()
    .split('\n')
    .map((line) => {
      const [cid, size, kind] = line.trim().split(' ')
      return [cid as string, Number(size), kind === 'wasm'] as const
    })
}

describe.skipIf(missingShared('data/golden/wire') !== undefined)('snapshot, against Lotus', () => {
  beforeAll(() => initCrypto())

  it.each([
    ['export-0-0', 0, false],
    ['export-10-1', 10, true],
    ['export-40-0', 40, false],
    ['export-2000-1', 2000, true],
  ] as const)('%s: the same blocks in the same order', (name, recentStateRoots, skipOldMessages) => {
    const lines = recorded(name)
    const archive = openShared('golden/wire/chain.car.zst')
    const code = new Map(lines.filter(([, , isCode]) => isCode).map(([cid, size]) => [parseCid(cid).key, size]))
    const store = {
      get: (cid: ReturnType<typeof parseCid>) => {
        const size = code.get(cid.key)
        return size === undefined ? archive.get(cid) : new Uint8Array(size)
      },
      has: () => true,
      put: () => undefined,
    }
    const head = createTipset(archive.roots.map((root) => getCbor(archive, blockHeader, root)))
    const found = [...walkSnapshot(store, head, { recentStateRoots, skipOldMessages })]
    expect(found.map(([cid, data]) => `${cid} ${data.length}`)).toEqual(lines.map(([cid, size]) => `${cid} ${size}`))
  })
})
