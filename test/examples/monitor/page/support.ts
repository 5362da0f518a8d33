/** What tests of the page share: the built page, a local chain behind it, Chromium. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { buildPage } from '../../../../scripts/monitor/buildPage.ts'
import { type LocalChain, startLocalChain } from '../../../../scripts/monitor/localChain.ts'
import { type PageServer, servePage } from '../../../../scripts/monitor/servePage.ts'
import { launchChromium } from '../../../support/chromium.ts'
import { ROOT } from '../../../support/shared.ts'

const SHOTS = join(ROOT, 'coverage/monitor')
/** Genesis lies as far back as the tests make epochs, or the page would say that the chain is ahead of the clock. */
const AGE_SEC = 120
/** The page says that a head is stale after three epochs of 4 s: tests that look at it make new ones. */
export const SLOW_MS = 60_000

/** How a page is opened. */
export interface Opening {
  readonly width?: number
  readonly dark?: boolean
  readonly hash?: string
  /** Where the page is served; undefined: by the world. */
  readonly origin?: string
  /** What the page remembers from before. */
  readonly settings?: object
  readonly context?: BrowserContextOptions
}

/** An open page, with what its console said of errors. */
export interface Opened {
  readonly page: Page
  readonly errors: string[]
}

/** The page in a browser, and the chain that it shows. */
export class World {
  readonly folder: string
  readonly server: PageServer
  readonly chain: LocalChain
  readonly browser: Browser
  /** With the letter t. */
  readonly accounts: readonly string[]

  private constructor(folder: string, server: PageServer, chain: LocalChain, browser: Browser, accounts: string[]) {
    this.folder = folder
    this.server = server
    this.chain = chain
    this.browser = browser
    this.accounts = accounts
  }

  static async start(): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'petrel-page-'))
    await buildPage(folder)
    const server = await servePage(folder, 0)
    const chain = await startLocalChain(server.url, AGE_SEC)
    server.use(chain.url, chain.home)
    const accounts = (await chain.node.DevnetAccounts()).map(({ address }) => address.toString('t'))
    return new World(folder, server, chain, await launchChromium(), accounts)
  }

  async close(): Promise<void> {
    await this.browser.close()
    await this.chain.stop()
    await this.server.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async mine(count = 1, nullRounds = 0, fork = 0): Promise<void> {
    await this.chain.node.DevnetMine(count, { nullRounds, fork })
  }

  /** @param more - fields of the message: `GasFeeCap`, `Nonce` … @returns its CID */
  async send(from: string, to: string, value: string, more: object = {}): Promise<string> {
    const plain = { Version: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0', Method: 0, Params: null, Nonce: 0 }
    const message = { ...plain, To: to, From: from, Value: value, ...more }
    const signed = (await this.chain.transport.request('Filecoin.MpoolPushMessage', [message, null])) as {
      CID: { '/': string }
    }
    return signed.CID['/']
  }

  /** Opens the page, without waiting for anything of the node. */
  async openBare({ width, dark, hash, origin, settings, context }: Opening = {}): Promise<Opened> {
    const opened = await this.browser.newContext({
      viewport: { width: width ?? 1440, height: 900 },
      colorScheme: dark === true ? 'dark' : 'light',
      permissions: ['clipboard-read', 'clipboard-write'],
      ...context,
    })
    const page = await opened.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (line) => {
      if (line.type() === 'error') errors.push(line.text())
    })
    if (settings !== undefined) {
      await page.addInitScript((text) => {
        localStorage.setItem('petrel.monitor', text)
      }, JSON.stringify(settings))
    }
    await page.goto(`${origin ?? this.server.url}/${hash ?? ''}`)
    return { page, errors }
  }

  /** Opens the page and waits for the head. */
  async open(opening: Opening = {}): Promise<Opened> {
    const opened = await this.openBare(opening)
    await until(opened.page, '#head-epoch', /^\d/)
    return opened
  }
}

/** Until the text of an element is as wanted. */
export async function until(page: Page, selector: string, wanted: RegExp): Promise<void> {
  await page.locator(selector, { hasText: wanted }).first().waitFor({ timeout: SLOW_MS, state: 'attached' })
}

/** A picture for people to look at, in `coverage/monitor/`. */
export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true })
  await page.evaluate(() => window.scrollTo(0, 0))
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
}

export async function headEpoch(page: Page): Promise<number> {
  return Number(((await page.locator('#head-epoch').textContent()) ?? '').replace(/\D/g, ''))
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Violations that axe finds, each with where. */
export async function axeViolations(page: Page): Promise<string[]> {
  // As a debugger's text: the page's policy lets no foreign script in.
  await page.evaluate(AXE)
  return await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> }
    }
    const { violations } = await axe.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    )
  })
}

/** What sticks out of the window sideways. */
export async function overflow(page: Page): Promise<(string | number)[]> {
  return await page.evaluate(() => {
    const wide = document.documentElement.clientWidth
    const outside = [...document.querySelectorAll('main *, header *, footer *, dialog[open] *')].filter((one) => {
      const { left, right, width } = one.getBoundingClientRect()
      return width > 0 && (right > wide + 1 || left < -1) && !one.closest('.scroll, .sr, .skip')
    })
    return [document.documentElement.scrollWidth - wide, ...outside.map((one) => one.className || one.tagName)]
  })
}
