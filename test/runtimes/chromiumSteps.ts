/** What a node in a tab does besides the suite: several tabs, other origins, keys, a file, an address. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '../../src/codec/jsonText.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { missingBundle } from '../support/actors.ts'
import { type Answer, RpcFailure } from '../support/rpcClient.ts'
import { missingShared, sharedPath } from '../support/shared.ts'
import { type Chromium, evaluate, openChromium, PASSPHRASE, tabClient, throwAway } from './chromiumHost.ts'

/** One behaviour. */
export interface TabStep {
  readonly name: string
  run(chromium: Chromium): Promise<void>
}

const GAS_OPEN = { Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
const MANUAL = { kind: 'local', devnet: { blockTimeMs: 0 } }
const json = (value: unknown): string => JSON.stringify(value)
const SEALED = json({ node: MANUAL, passphrase: PASSPHRASE })
const OPEN = json({ node: MANUAL })

async function refusal(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => assert.fail('expected a refusal'),
    (error: unknown) => (error as Error).message,
  )
}

/** All, each with a profile of its own. */
export const TAB_STEPS: readonly TabStep[] = [
  {
    name: 'two tabs have one node; the second takes over when the first goes',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      const first = await chromium.openPage(context)
      await first.evaluate(`startTab(${SEALED})`)
      const second = await chromium.openPage(context)
      await second.evaluate(`startTab(${SEALED})`)
      assert.equal(await second.evaluate('tab.state.at'), 'following')
      await evaluate(first, `tab.request('DevnetMine', [2, null])`)
      const address: string = await evaluate(second, `tab.request('WalletNew', [1])`)
      const head = await evaluate(first, `tab.request('ChainHead')`)
      assert.deepEqual(await evaluate(second, `tab.request('ChainHead')`), head)
      await second.evaluate(`(async () => {
        globalThis.heads = []
        await tab.subscribe('ChainNotify', [], { value: (changes) => heads.push(plain(changes)) })
      })()`)
      // A call that the first tab will never answer.
      const [{ Address: funded }] = await evaluate(second, `tab.request('DevnetAccounts')`)
      const message = { Version: 0, From: funded, To: address, Value: '1', Method: 0, Params: null, ...GAS_OPEN }
      const { CID } = await evaluate(second, `tab.request('MpoolPushMessage', [${json(message)}, null])`)
      await second.evaluate(
        `{ globalThis.waiting = settled(tab.request('StateWaitMsg', [${json(CID)}, 1, -1, true])); 0 }`,
      )
      await first.close()
      await second.waitForFunction(`tab.state.at === 'leading'`)
      assert.equal((await second.evaluate<{ code: string }>('waiting')).code, 'CLOSED')
      assert.deepEqual(await evaluate(second, `tab.request('ChainHead')`), head)
      assert.equal((await evaluate(second, `tab.request('WalletList')`)).includes(address), true)
      assert.deepEqual(
        (await evaluate(second, `tab.request('MpoolPending', [[]])`)).map((one: Answer) => one.CID),
        [CID],
      )
      await evaluate(second, `tab.request('DevnetMine', [1, null])`)
      await second.waitForFunction(`heads.at(-1)?.[0]?.Type === 'apply'`)
      await context.close()
    },
  },
  {
    name: 'a store that the browser has thrown away is told of, once, and its keys are there',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      const losses: (readonly [isLost: boolean, isTakenBack: boolean])[] = []
      const addresses: string[] = []
      for (const isThrownAway of [false, true, false]) {
        const page = await chromium.openPage(context)
        if (isThrownAway) {
          await throwAway(page, 'local')
        } else if (losses.length > 0) {
          // Sealed as they were: nobody begins anew beside them with another passphrase.
          const wrong = await page.evaluate<{ message: string }>(
            `settled(startTab(${json({ node: MANUAL, passphrase: 'another one' })}))`,
          )
          assert.match(wrong.message, /passphrase/)
          await page.reload()
        }
        await page.evaluate(`startTab(${SEALED})`)
        const kept: string[] = await evaluate(page, `tab.request('WalletList')`)
        assert.ok(addresses.every((address) => kept.includes(address)))
        losses.push(await page.evaluate<[boolean, boolean]>('[tab.state.isLost, tab.state.takenBack > 0]'))
        addresses.push(await evaluate(page, `tab.request('WalletNew', [1])`))
        await page.evaluate('tab.stop()')
        await page.close()
      }
      assert.deepEqual(losses, [
        [false, false],
        [true, true],
        [false, false],
      ])
      await context.close()
    },
  },
  {
    name: 'a third tab follows whoever leads',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      const pages = [
        await chromium.openPage(context),
        await chromium.openPage(context),
        await chromium.openPage(context),
      ]
      for (const page of pages) await page.evaluate(`startTab(${OPEN})`)
      const [first, second, third] = pages as [(typeof pages)[0], (typeof pages)[0], (typeof pages)[0]]
      await evaluate(third, `tab.request('DevnetMine', [1, null])`)
      await first.evaluate('tab.stop()')
      await second.waitForFunction(`tab.state.at === 'leading'`)
      assert.equal(await third.evaluate('tab.state.at'), 'following')
      // Until the third has heard of its new leader a call may fail.
      await third.waitForFunction(
        `settled(tab.request('DevnetMine', [1, null])).then(({ code }) => code === undefined)`,
      )
      assert.deepEqual(
        await evaluate(third, `tab.request('ChainHead')`),
        await evaluate(second, `tab.request('ChainHead')`),
      )
      await context.close()
    },
  },
  {
    name: 'tabs with and without the passphrase do not mix',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      const first = await chromium.openPage(context)
      await first.evaluate(`startTab(${SEALED})`)
      const second = await chromium.openPage(context)
      assert.match(await refusal(second.evaluate(`startTab(${OPEN})`)), /give its passphrase/)
      const wrong = json({ node: MANUAL, passphrase: 'another' })
      assert.match(await refusal(second.evaluate(`startTab(${wrong})`)), /wrong passphrase/)
      await context.close()
    },
  },
  {
    name: 'what tabs tell each other cannot be read nor forged by other scripts',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      const first = await chromium.openPage(context)
      await first.evaluate(`startTab(${SEALED})`)
      const spy = await chromium.openPage(context)
      await spy.evaluate(`(() => {
        globalThis.heard = []
        globalThis.spy = new BroadcastChannel('petrel/local')
        spy.onmessage = ({ data }) => heard.push(data)
        spy.postMessage({ t: 'who' })
      })()`)
      const second = await chromium.openPage(context)
      await second.evaluate(`startTab(${SEALED})`)
      await evaluate(second, `tab.request('WalletNew', [1])`)
      const clear = await spy.evaluate<number>(
        `heard.filter(({ body }) => body !== undefined && typeof body === 'string').length`,
      )
      assert.equal(clear, 0)
      assert.equal(await spy.evaluate<boolean>(`heard.some(({ t }) => t === 'ask')`), true)
      const before = (await evaluate(first, `tab.request('WalletList')`)).length
      // Every frame again, and one in clear.
      await spy.evaluate(`(async () => {
        for (const frame of heard.filter(({ t }) => t === 'ask')) spy.postMessage(frame)
        const { leader } = heard.find(({ t }) => t === 'leader')
        spy.postMessage({ t: 'ask', leader, session: 'x', n: 1, body: JSON.stringify({ open: { access: { as: 'page' }, version: 'v1' } }) })
        spy.postMessage({ t: 'ask', leader, session: 'x', n: 2, body: JSON.stringify({ frame: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Node.WalletNew', params: [1] }) }) })
        await new Promise((resolve) => setTimeout(resolve, 300))
      })()`)
      assert.equal((await evaluate(first, `tab.request('WalletList')`)).length, before)
      await context.close()
    },
  },
  {
    name: 'another origin reads, and does what its token allows; one that is not named gets nothing',
    run: async (chromium) => {
      const other = await openChromium()
      const context = await chromium.browser.newContext()
      try {
        const page = await chromium.openPage(context)
        await page.evaluate(`startTab(${SEALED})`)
        await page.evaluate(`tab.serveOrigins(${json([other.url])})`)
        const token = Buffer.from(
          await evaluate(page, `tab.request('AuthNew', [['read', 'write']])`),
          'base64',
        ).toString()
        const inFrame = async (
          given: string,
          method: string,
        ): Promise<{ code?: string; message?: string; result?: unknown }> => {
          const frame = page.frames().find((one) => one.url().startsWith(other.url))
          assert.ok(frame)
          return await frame.evaluate(`(async () => {
            const { connectTo } = await import('/client.js')
            const transport = connectTo(parent, ${json(chromium.url)}, ${json(given)})
            return await Promise.race([
              settled(transport.request(${json(method)}, ${method.endsWith('New') ? '[1]' : '[]'})),
              new Promise((resolve) => setTimeout(() => resolve({ code: 'NO_ANSWER' }), 1500)),
            ])
          })()`)
        }
        await page.evaluate(`new Promise((resolve) => {
          const frame = document.createElement('iframe')
          frame.onload = resolve
          frame.src = ${json(`${other.url}/index.html`)}
          document.body.append(frame)
        })`)
        assert.ok((await inFrame('', 'Node.ChainHead')).result)
        assert.match((await inFrame('', 'Node.WalletNew')).message ?? '', /need 'write'/)
        assert.match(String((await inFrame(token, 'Node.WalletNew')).result), /^t1/)
        assert.match((await inFrame(`${token}x`, 'Node.ChainHead')).message ?? '', /does not accept the token/)
        const strict = await chromium.openPage(context)
        await strict.evaluate(`startTab(${SEALED})`)
        await strict.evaluate(`tab.serveOrigins(['https://example.org'])`)
        await strict.evaluate(`new Promise((resolve) => {
          const frame = document.createElement('iframe')
          frame.onload = resolve
          frame.src = ${json(`${other.url}/index.html`)}
          document.body.append(frame)
        })`)
        const frame = strict.frames().find((one) => one.url().startsWith(other.url))
        const silent = await frame?.evaluate(`(async () => {
          const { connectTo } = await import('/client.js')
          const transport = connectTo(parent, ${json(chromium.url)}, '')
          return await Promise.race([
            settled(transport.request('Node.ChainHead', [])),
            new Promise((resolve) => setTimeout(() => resolve('nothing'), 1000)),
          ])
        })()`)
        assert.equal(silent, 'nothing')
      } finally {
        await context.close()
        await other.close()
      }
    },
  },
  {
    name: 'keys end with the tab without a passphrase, and outlive it with one',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      let page = await chromium.openPage(context)
      await page.evaluate(`startTab(${OPEN})`)
      assert.equal(await page.evaluate('tab.state.keys'), 'memory')
      const lost: string = await evaluate(page, `tab.request('WalletNew', [1])`)
      await page.reload()
      await page.evaluate(`startTab(${SEALED})`)
      assert.equal(await page.evaluate('tab.state.keys'), 'sealed')
      assert.equal((await evaluate(page, `tab.request('WalletList')`)).includes(lost), false)
      const kept: string = await evaluate(page, `tab.request('WalletNew', [1])`)
      await page.close()
      page = await chromium.openPage(context)
      await page.evaluate(`startTab(${SEALED})`)
      assert.equal((await evaluate(page, `tab.request('WalletList')`)).includes(kept), true)
      await page.reload()
      assert.match(
        await refusal(page.evaluate(`startTab(${json({ node: MANUAL, passphrase: 'wrong' })})`)),
        /wrong passphrase/,
      )
      await page.reload()
      await page.evaluate(`startTab(${OPEN})`)
      assert.equal(await page.evaluate('tab.state.keys'), 'locked')
      await context.close()
    },
  },
  {
    name: 'goes offline and comes back',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      const page = await chromium.openPage(context)
      await page.evaluate(`startTab(${OPEN})`)
      await page.evaluate(`globalThis.online = []; tab.listen({ online: (one) => online.push(one) }); 0`)
      await context.setOffline(true)
      await page.waitForFunction(`online.at(-1) === false`)
      await evaluate(page, `tab.request('DevnetMine', [1, null])`)
      await context.setOffline(false)
      await page.waitForFunction(`online.at(-1) === true`)
      await context.close()
    },
  },
  {
    name: 'speaks to existing clients through a provider',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      const page = await chromium.openPage(context)
      await page.evaluate(`startTab(${OPEN})`)
      const found = await page.evaluate<{
        chainId: string
        seen: unknown[]
        code: number
        eth: string
        accounts: string[]
        same: boolean
      }>(`(async () => {
        const { provider } = tab
        const seen = []
        provider.on('message', ({ type, data }) => seen.push([type, plain(data)]))
        const id = await provider.request({ method: 'eth_subscribe', params: ['newHeads'] })
        await provider.request({ method: 'Filecoin.DevnetMine', params: [2, null] })
        for (let i = 0; i < 100 && seen.length === 0; i++) await new Promise((resolve) => setTimeout(resolve, 50))
        const failed = await provider.request({ method: 'eth_nothing' }).catch((error) => error)
        const own = await provider.request({ method: 'Filecoin.WalletNew', params: ['delegated'] })
        const eth = await provider.request({ method: 'Filecoin.FilecoinAddressToEthAddress', params: [own] })
        const accounts = await provider.request({ method: 'eth_requestAccounts' })
        const same = String(accounts) === String(await provider.request({ method: 'eth_accounts' }))
        const chainId = await provider.request({ method: 'eth_chainId' })
        return { chainId, seen, id, code: failed.code, eth, accounts: accounts.map(String), same }
      })()`)
      assert.match(found.chainId, /^0x[0-9a-f]+$/)
      assert.equal(found.seen.length > 0, true)
      assert.equal(found.code, -32601)
      assert.equal(found.accounts.includes(found.eth), true)
      assert.equal(new Set(found.accounts).size, found.accounts.length)
      assert.equal(
        found.accounts.every((one) => /^0x[0-9a-f]{40}$/.test(one)),
        true,
      )
      assert.equal(found.same, true)
      await context.close()
    },
  },
  {
    name: 'gives a caller of another origin no way to the page itself',
    run: async (chromium) => {
      const context = await chromium.browser.newContext()
      const page = await chromium.openPage(context)
      await page.evaluate(`startTab(${OPEN})`)
      const anonymous = tabClient(page, {})
      await assert.rejects(anonymous.call('WalletList'), RpcFailure)
      await context.close()
    },
  },
  ...(['address', 'file'] as const).map((from) => ({
    name: `opens a recorded chain from ${from === 'address' ? 'an address, by ranges' : 'a file'} and executes its tipsets`,
    run: async (chromium: Chromium) => {
      const missing = missingShared('data/golden/nv17')
      if (missing !== undefined) {
        console.log(`     skipped: ${missing}`)
        return
      }
      const folder = sharedPath('data/golden/nv17')
      const text = readFileSync(join(folder, 'network.json'), 'utf8')
      const bundles = parseNetwork(parseJson(text))
        .manifests.map(({ manifestCid }) => manifestCid.toString())
        .filter((one) => missingBundle(one) === undefined)
        .map((one) => `/actors/${one}.car`)
      const context = await chromium.browser.newContext()
      const page = await chromium.openPage(context)
      const address = '/shared/data/golden/nv17/chain.car.zst'
      const snapshot =
        from === 'address' ? json(address) : `new File([await (await fetch(${json(address)})).blob()], 'chain.car.zst')`
      await page.evaluate(`(async () => await startTab({
        node: { kind: 'snapshot', network: ${json(text)}, bundles: ${json(bundles)}, snapshot: ${snapshot} },
      }))()`)
      const head = await evaluate(page, `tab.request('ChainHead')`)
      assert.equal(head.Height > 50, true)
      const below = await evaluate(page, `tab.request('ChainGetTipSet', [${json(head.Blocks[0].Parents)}])`)
      if (bundles.length > 0) {
        const computed = await evaluate(page, `tab.request('StateCompute', [${below.Height}, [], ${json(below.Cids)}])`)
        assert.deepEqual(computed.Root, head.Blocks[0].ParentStateRoot)
      }
      await context.close()
    },
  })),
]
