/** Message search and wait against the answers that Lotus gave on the recorded chains. */

import { describe, expect, test } from 'vitest'
import { finish } from '../../../src/base/steps.ts'
import { cid, encode } from '../../../src/codec/description.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { hasBlock } from '../../../src/ipld/blockstore.ts'
import { searchMethods } from '../../../src/rpc/methods/search.ts'
import { message } from '../../../src/types/message.ts'
import { recordedCalls } from '../../support/recorded.ts'
import { openRecordedView, silentLog } from '../../support/recordedView.ts'
import { missingShared } from '../../support/shared.ts'

const METHODS = [
  'StateSearchMsg',
  'StateSearchMsgLimited',
  'StateWaitMsg',
  'StateWaitMsgLimited',
  'StateGetReceipt',
].map((name) => `Filecoin.${name}`)

describe.skipIf(missingShared('data/golden') !== undefined)('recorded searches', () => {
  test.each(['nv17', 'nv18', 'nv22', 'nv28', 'nv28-deadlines', 'up-24-28'])('%s', async (chain) => {
    const { view, vm } = openRecordedView(chain)
    const json = { addressPrefix: view.network.addressPrefix }
    // A message that was replaced in the pool is in no archive, and Lotus' signatures are not deterministic: the unsigned
    // form that ChainGetMessage answered stands for it.
    for (const { params, response } of recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.ChainGetMessage'])) {
      const asked = cid.fromJson(params[0], json)
      if (response.result === undefined || hasBlock(view.store.blocks, asked)) continue
      view.store.blocks.put(asked, encode(message, message.fromJson(response.result, json)))
    }
    const rows = searchMethods({ view, vm, log: silentLog })
    let asked = 0
    for (const { path, method, params, response } of recordedCalls(chain, 'chain.jsonl.zst', METHODS)) {
      const version = path === '/rpc/v0' ? 'v0' : 'v1'
      const name = method.replace('Filecoin.', '')
      const row = rows.find((one) => one.name === name && one.versions.includes(version))
      if (row?.kind !== 'call') throw new TypeError(`no row ${version} ${name}`)
      const signal = AbortSignal.timeout(5_000)
      const caller = { version, permissions: new Set<string>(), signal, ended: signal, notify: undefined } as const
      const call = { ...caller, json, walk: finish }
      let answer: Json
      try {
        const values = row.params.map(({ codec }, i) => codec.fromJson(params[i], json))
        answer = { result: row.result.toJson(await row.handle(values, call), json) }
      } catch (error) {
        answer = { error: { code: 1, message: (error as Error).message } }
      }
      const { error, result } = response
      expect(answer, `${path} ${name} ${JSON.stringify(params)}`).toEqual(error === undefined ? { result } : { error })
      asked++
    }
    expect(asked).toBeGreaterThan(100)
  })
})
