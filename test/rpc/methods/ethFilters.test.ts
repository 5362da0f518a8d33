/** A filter of logs tells the past once, then what comes, on whichever chain, whatever the head does while the past is read. */
import { describe, expect, it } from 'vitest'
import { WANTED_LIMITS } from '../../../src/base/bounds.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { EthLogSearch } from '../../../src/rpc/ethLogSearch.ts'
import type { CallRow } from '../../../src/rpc/method.ts'
import { ethFilterMethods } from '../../../src/rpc/methods/ethFilters.ts'
import { logFilter } from '../../../src/rpc/types/logFilter.ts'
import type { Tipset } from '../../../src/types/tipset.ts'
import {
  between,
  forkingChain,
  inShort,
  JSON_CONTEXT,
  logged,
  loggedBlock,
  loggedReader,
  plainCall,
  turn,
} from '../forkingChain.ts'
import { silentLog } from '../stubTable.ts'

/** A node at epoch 20 whose first read of a block waits until `open` is called. */
function node(fails = false) {
  const { store, on } = forkingChain(20)
  const asked = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  const block = async (tipset: Tipset) => {
    asked.resolve()
    await opened.promise
    if (fails) throw new Error('no such block')
    return loggedBlock(tipset)
  }
  const reader = loggedReader(store, block)
  let id = 0
  const rows = ethFilterMethods({
    ...{ reader, search: new EthLogSearch(reader), log: silentLog },
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    random: { fill: (out) => out.fill(id++, 0, 1) },
    onPoolMessage: () => () => undefined,
  })
  const ask = async (name: string, given: unknown): Promise<unknown> =>
    (rows.find((row) => row.name === name) as CallRow).handle([given], plainCall())
  const changes = async (of: unknown): Promise<string[]> => inShort((await ask('EthGetFilterChanges', of)) as Json[])
  const from = (height: number) => logFilter.fromJson({ fromBlock: `0x${height.toString(16)}` }, JSON_CONTEXT)
  return { store, on, ask, changes, from, asked: asked.promise, open: () => opened.resolve() }
}

describe('a filter of logs whose past is read', () => {
  it('tells the tipsets that are executed meanwhile', async () => {
    const { store, on, ask, changes, from, asked, open } = node()
    const made = ask('EthNewFilter', from(5))
    await asked
    store.setHead(on(store.head(), 2))
    open()
    const id = await made
    store.setHead(on(store.head()))
    await turn()
    expect(await changes(id)).toEqual(logged(between(store, store.head(), 5, 22)))
  })

  it('takes back what a reorganisation reverts meanwhile, and tells what came instead', async () => {
    const { store, on, ask, changes, from, asked, open } = node()
    const old = store.head()
    const made = ask('EthNewFilter', from(5))
    await asked
    const fork = store.tipsetByHeight(18, old, 'next')
    store.setHead(on(fork, 3))
    open()
    const id = await made
    await turn()
    const [eighteen, nineteen] = between(store, old, 18, 19) as [Tipset, Tipset]
    expect(await changes(id)).toEqual([
      ...logged(between(store, old, 5, 19)),
      ...logged([nineteen, eighteen], '-'),
      ...logged(between(store, store.head(), 18, 20)),
    ])
  })

  it('is gone when that fails', async () => {
    const { store, on, ask, from, open } = node(true)
    open()
    for (let i = 0; i < 101; i++) await expect(ask('EthNewFilter', from(5))).rejects.toThrow('no such block')
    store.setHead(on(store.head()))
    expect(await ask('EthNewFilter', from(store.head().height))).toBeDefined()
  })
})

it('a filter takes room for what it wants until it is uninstalled, or could not be made', async () => {
  const { store, ask, from, open } = node(true)
  const large = (height: number) => ({ ...from(height), bytes: WANTED_LIMITS.perToken })
  open()
  for (let i = 0; i < 2; i++) await expect(ask('EthNewFilter', large(5))).rejects.toThrow('no such block')
  const { height } = store.head()
  const id = await ask('EthNewFilter', large(height))
  await expect(ask('EthNewFilter', large(height))).rejects.toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }))
  await ask('EthUninstallFilter', id)
  expect(await ask('EthNewFilter', large(height))).toBeDefined()
})
