import { beforeAll, expect, it } from 'vitest'
import { concatBytes } from '../../src/base/bytes.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { fetchingRows } from '../../src/node/fetchingRows.ts'
import type { CallContext, CallRow } from '../../src/rpc/method.ts'
import { type ChainExportDeps, chainExportMethods } from '../../src/rpc/methods/chainExport.ts'
import { devnetNode, signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { partialNode } from './partialNode.ts'

beforeAll(initCrypto)

it('a range is exported to one file, whole, though the state in it has to be fetched block by block', async () => {
  const theirs = devnetNode({ accountsPerKind: 20 })
  const [a, b] = theirs.plan.accounts
  if (a === undefined || b === undefined) throw new TypeError('no accounts')
  theirs.pending.push(signedBy(a, { to: b.address, value: 1n, nonce: 0n }))
  const tipsets = [await theirs.devnet.mine(1), await theirs.devnet.mine(1)]
  const ours = partialNode(theirs)
  ours.follow(tipsets)
  const time = new VirtualTime()
  const files: { name: string; bytes: Uint8Array[]; isClosed: boolean }[] = []
  const exported = async (deps: Pick<ChainExportDeps, 'view' | 'edge'>): Promise<void> => {
    const rows = chainExportMethods({
      ...{ ...deps, clock: time, timers: time, log: silentLog },
      createFile: (name) => {
        const file = { name, bytes: [] as Uint8Array[], isClosed: false }
        files.push(file)
        return {
          write: (data) => void file.bytes.push(data.slice()),
          close: () => {
            file.isClosed = true
          },
        }
      },
    })
    const all = deps.edge === undefined ? rows : fetchingRows(rows, deps.edge)
    const row = all.find(({ name }) => name === 'ChainExportRangeInternal') as CallRow
    const config = { messages: true, receipts: false, stateRoots: true }
    const call = { signal: new AbortController().signal } as CallContext
    await time.until(Promise.resolve(row.handle([tipsets[1]?.key, tipsets[0]?.key, config], call)))
  }
  await exported({ view: theirs.view })
  await exported({ view: ours.view, edge: ours.edge })
  expect(ours.fetches()).toBeGreaterThan(3)
  expect(files.map(({ name, isClosed }) => [name, isClosed])).toEqual([
    ['snapshot_1_2', true],
    ['snapshot_1_2', true],
  ])
  const [whole, fetched] = files.map(({ bytes }) => concatBytes(...bytes))
  expect(whole?.length).toBeGreaterThan(1000)
  expect(fetched).toEqual(whole)
})
