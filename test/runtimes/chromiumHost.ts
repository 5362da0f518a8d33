/** The node in a tab of Chromium, for the suite. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { buildBrowser } from '../../scripts/buildBrowser.ts'
import { serveTests } from '../chromium/serve.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Answer, RpcFailure } from '../support/rpcClient.ts'
import type { NodeClient, NodeHost, RunningNode } from './nodeHost.ts'

export const PASSPHRASE = 'a passphrase of the tests'

/** Chromium with the built bundles on a server. */
export interface Chromium {
  readonly url: string
  /** What the server serves at `/`. */
  readonly folder: string
  readonly browser: Browser
  /** A page of the origin (or of another server's) with the helpers of {@link HELPERS}. */
  openPage(context: BrowserContext, log?: string[], url?: string): Promise<Page>
  close(): Promise<void>
}

/** In the page: `petrel` is the module, `tab` the started node. */
const HELPERS = `
const start = performance.now()
globalThis.startTab = async (options) => {
  globalThis.petrel = await import('/client.js')
  globalThis.tab = await petrel.startPetrel(options)
  await tab.request('ChainHead')
  return performance.now() - start
}
globalThis.plain = (value) => JSON.parse(JSON.stringify(value, (_key, one) => typeof one === 'bigint' ? Number(one) : one))
globalThis.settled = async (promise) => {
  try { return { result: plain(await promise) } }
  catch (error) { return { code: error.code, message: error.message, number: error.info?.code, data: plain(error.info?.data ?? null) } }
}
globalThis.transports = new Map()
globalThis.ask = (access, method, params) => {
  const key = JSON.stringify(access)
  if (!transports.has(key)) transports.set(key, new petrel.TabTransport(tab.connect(access)))
  return settled(transports.get(key).request('Node.' + method, params))
}
globalThis.lines = []
globalThis.openLine = (id) => {
  const port = tab.connect()
  port.onmessage = ({ data }) => { if (typeof data === 'string') globalThis.lineFrame(id, data) }
  lines[id] = port
}
`

/** The built bundles on a server, without a browser. */
export interface TabServer extends Pick<Chromium, 'url' | 'folder' | 'openPage'> {
  close(): void
}

/** Builds the bundles and serves them. */
export async function serveTab(): Promise<TabServer> {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-tab-'))
  await buildBrowser(folder)
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><title>Petrel</title><link rel="icon" href="data:,"><script>${HELPERS}</script>`,
  )
  const server = await serveTests(folder)
  return {
    url: server.url,
    folder,
    openPage: async (context, log = [], url = server.url) => {
      const page = await context.newPage()
      page.on('console', (message) => log.push(message.text()))
      page.on('pageerror', (error) => log.push(String(error)))
      await page.goto(`${url}/index.html`)
      return page
    },
    close: () => {
      server.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Starts Chromium and a server of the built bundles. */
export async function openChromium(): Promise<Chromium> {
  const { url, folder, openPage, close } = await serveTab()
  const browser = await launchChromium()
  return {
    url,
    folder,
    browser,
    openPage,
    close: async () => {
      await browser.close()
      close()
    },
  }
}

/** Deletes a node's database, as a browser does to one that looks damaged. @param page - one that runs no node */
export async function throwAway(page: Page, node: string): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    const gone = indexedDB.deleteDatabase(${JSON.stringify(`petrel/${node}`)})
    gone.onsuccess = resolve
    gone.onerror = reject
  })`)
}

/** A client of the page's node that may do everything. */
export async function tabAdmin(page: Page): Promise<{ readonly client: NodeClient; readonly token: string }> {
  const encoded: string = await evaluate(page, `tab.request('AuthNew', [['read', 'write', 'sign', 'admin']])`)
  const token = Buffer.from(encoded, 'base64').toString()
  return { client: tabClient(page, { token }), token }
}

/** A result of `settled`. */
interface Settled {
  readonly result?: unknown
  readonly code?: string
  readonly message: string
  readonly number?: number
  readonly data?: unknown
}

/** What `expression` gives in the page. @throws RpcFailure for an error of the node */
export async function evaluate(page: Page, expression: string): Promise<Answer> {
  const settled = await page.evaluate<Settled>(`settled(${expression})`)
  return resultOf(settled)
}

function resultOf(settled: Settled): Answer {
  if (settled.code === undefined) return settled.result
  if (settled.code !== 'REMOTE') throw new Error(`${settled.code}: ${settled.message}`)
  throw new RpcFailure({
    code: settled.number ?? 0,
    message: settled.message,
    ...(settled.data === null ? {} : { data: settled.data }),
  })
}

/** A client of the page's node with a token. */
export function tabClient(page: Page, access: object): NodeClient {
  return {
    call: async (method, ...params) =>
      resultOf(
        await page.evaluate<Settled>(
          `ask(${JSON.stringify(access)}, ${JSON.stringify(method)}, ${JSON.stringify(params)})`,
        ),
      ),
  }
}

/** A tab of a context (a profile) of its own. @param devnet - options of the local chain */
export function tabHost(chromium: Chromium, devnet: object): NodeHost {
  let context: BrowserContext | undefined
  const log: string[] = []
  return {
    start: async () => {
      context ??= await chromium.browser.newContext()
      const page = await chromium.openPage(context, log)
      const options = { node: { kind: 'local', devnet }, passphrase: PASSPHRASE, log: 'debug' }
      const startMs = await page.evaluate<number>(`startTab(${JSON.stringify(options)})`)
      return await runningTab(page, startMs, log)
    },
    dispose: async () => {
      await context?.close()
      context = undefined
    },
  }
}

async function runningTab(page: Page, startMs: number, log: string[]): Promise<RunningNode> {
  const { token } = await tabAdmin(page)
  const listeners: ((text: string) => void)[] = []
  await page.exposeFunction('lineFrame', (id: number, text: string) => listeners[id]?.(text))
  return {
    url: '',
    home: '',
    token,
    startMs,
    client: (given, version = 'v1') => tabClient(page, { ...(given === undefined ? {} : { token: given }), version }),
    openLine: async (onFrame) => {
      const id = listeners.push(onFrame) - 1
      await page.evaluate(`openLine(${id})`)
      return {
        send: (text) => void page.evaluate(`lines[${id}].postMessage(${JSON.stringify(text)})`),
        close: () => void page.evaluate(`lines[${id}].postMessage({ close: true })`),
      }
    },
    isAlive: () => page.evaluate<boolean>(`tab.state.at === 'leading'`),
    output: () => log.join('\n'),
    stop: async () => {
      await page.evaluate('tab.stop()')
      await page.close()
      return 0
    },
    // The page goes with its worker, whatever that is doing.
    kill: () => page.close(),
  }
}
