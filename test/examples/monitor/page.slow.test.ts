/**
 * The page in Chromium against a local chain and against a node in the tab. Screenshots go to `coverage/monitor/`.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPage } from '../../../scripts/monitor/buildPage.ts'
import { type LocalChain, startLocalChain } from '../../../scripts/monitor/localChain.ts'
import { type PageServer, servePage } from '../../../scripts/monitor/servePage.ts'
import { findChromium, launchChromium } from '../../support/chromium.ts'
import { ROOT } from '../../support/shared.ts'

const SHOTS = join(ROOT, 'coverage/monitor')
/** Genesis lies as far back as the tests make epochs, or the page would say that the chain is ahead of the clock. */
const AGE_SEC = 120
const SLOW_MS = 20_000
/** Time for a block to reach the tab. */
const HEAD_MS = 6_000

const WIDTHS = [360, 768, 1440]

let folder = ''
let server: PageServer
let chain: LocalChain
let browser: Browser
let accounts: string[] = []

async function mine(count = 1, nullRounds = 0, fork = 0): Promise<void> {
  await chain.node.DevnetMine(count, { nullRounds, fork })
}

async function send(from: string, to: string, value: string): Promise<string> {
  const message = {
    Version: 0,
    To: to,
    From: from,
    Nonce: 0,
    Value: value,
    GasLimit: 0,
    GasFeeCap: '0',
    GasPremium: '0',
    Method: 0,
    Params: null,
  }
  const signed = (await chain.transport.request('Filecoin.MpoolPushMessage', [message, null])) as {
    CID: { '/': string }
  }
  return signed.CID['/']
}

interface Opened {
  readonly page: Page
  readonly errors: string[]
}

async function open(options: { width?: number; dark?: boolean; hash?: string } = {}): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1440, height: 900 },
    colorScheme: options.dark === true ? 'dark' : 'light',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (line) => {
    if (line.type() === 'error') errors.push(line.text())
  })
  await page.goto(`${server.url}/${options.hash ?? ''}`)
  await page.waitForFunction(() => /^\d/.test(document.getElementById('head-epoch')?.textContent ?? ''), undefined, {
    timeout: SLOW_MS,
  })
  return { page, errors }
}

async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true })
  await page.evaluate(() => window.scrollTo(0, 0))
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
}

const headEpoch = async (page: Page): Promise<number> =>
  Number(((await page.locator('#head-epoch').textContent()) ?? '').replace(/\D/g, ''))

/** Until the text of an element is as wanted. */
async function until(page: Page, selector: string, wanted: RegExp): Promise<void> {
  await page.locator(selector, { hasText: wanted }).first().waitFor({ timeout: SLOW_MS, state: 'attached' })
}

describe.skipIf(findChromium() === undefined)('monitor page', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-page-'))
    await buildPage(folder)
    server = await servePage(folder, 0)
    chain = await startLocalChain(server.url, AGE_SEC)
    server.use(chain.url, chain.home)
    accounts = (await chain.node.DevnetAccounts()).map(({ address }) => address.toString('t'))
    await mine(4)
    await mine(1, 2)
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser?.close()
    await chain?.stop()
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('ticks with the head, shows null rounds and reorganisations, and nothing moves', async () => {
    const { page, errors } = await open()
    const before = await headEpoch(page)
    expect(await page.locator('.epochs .is-null').count()).toBe(2)
    const layout = (): Promise<number[]> =>
      page.evaluate(() => [...document.querySelectorAll('.panel')].map((one) => one.getBoundingClientRect().top))
    const places = await layout()
    await mine(1)
    await until(page, '#head-epoch', new RegExp(`^${before + 1}$`))
    await mine(2)
    await mine(1, 0, 2)
    await until(page, '#epochs-note', /last reorganisation: \d epochs? from/)
    await page.waitForTimeout(300)
    expect(await layout()).toEqual(places)
    expect(await page.locator('#head-mark [data-source=server]').count()).toBe(1)
    expect(await page.locator('[data-source=proven]').count(), 'only the legend names it').toBe(1)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('watches an address: balance, a transfer as it arrives, kept after a reload', async () => {
    const { page, errors } = await open()
    const [rich, , , poor] = accounts as [string, string, string, string]
    await page.getByLabel('Address', { exact: true }).fill('t1nonsense')
    await page.getByRole('button', { name: 'Watch', exact: true }).click()
    await until(page, '#watch-error', /no Filecoin address/)
    await page.getByLabel('Address', { exact: true }).fill(poor)
    await page.getByLabel('Name', { exact: true }).fill('Deposits')
    await page.keyboard.press('Enter')
    await until(page, '#watch-list .amount', /^1\D000\D000$/)
    await send(rich, poor, '1500000000000000000')
    await until(page, '#watch-list .pending', /1 waiting to come in/)
    await mine(2)
    await until(page, '#watch-list .transfers .in', /\+1\.5 FIL/)
    await until(page, '#watch-list .amount', /^1\D000\D001\.5$/)
    await page.locator('#watch-list .balance .copy').click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('1000001.5')
    await page.reload()
    await until(page, '#watch-list h3', /Deposits/)
    await until(page, '#watch-list .transfers .in', /\+1\.5 FIL/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('tracks a message from pending to confirmed, and one that is replaced', async () => {
    const { page, errors } = await open()
    const [from, to] = accounts as [string, string]
    const cid = await send(from, to, '7')
    await page.getByLabel('confirmed after', { exact: true }).fill('3')
    await page.getByLabel('Message CID', { exact: true }).fill(cid)
    await page.keyboard.press('Enter')
    const stage = '#track-list [data-stage]'
    const reached = (at: string): Promise<void> =>
      page.locator(`${stage}[data-stage=${at}]`).waitFor({ timeout: SLOW_MS })
    await reached('pending')
    await shot(page, 'pending')
    await mine(1)
    await reached('included')
    await mine(1)
    await reached('executed')
    await mine(3)
    await reached('confirmed')
    expect(await page.locator('#track-list [aria-current=step]').textContent()).toBe('confirmed')
    await until(page, '#live', /is confirmed/)
    await page.getByRole('button', { name: /^Stop tracking/ }).click()
    expect(await page.locator('#track-list li.card').count()).toBe(0)

    const first = await send(from, to, '8')
    await until(page, '#pool-box summary', /1 message/)
    await page.locator('#pool-box summary').first().click()
    await page.getByRole('button', { name: /^Track message/ }).click()
    await reached('pending')
    const pending = (await chain.transport.request('Filecoin.MpoolPending', [[]])) as {
      Message: object
      CID: { '/': string }
    }[]
    const old = pending.find((one) => one.CID['/'] === first)?.Message as { GasPremium: string; GasFeeCap: string }
    const dear = { ...old, GasPremium: '200000000', GasFeeCap: '900000000' }
    const signed = await chain.transport.request('Filecoin.WalletSignMessage', [from, dear])
    await chain.transport.request('Filecoin.MpoolPush', [signed])
    await reached('replaced')
    await mine(2)
    await until(page, stage, /took its nonce/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it.each(WIDTHS.flatMap((width) => [false, true].map((dark) => [width, dark] as const)))(
    'fits %i px, dark %s',
    async (width, dark) => {
      const { page, errors } = await open({ width, dark })
      await page.getByLabel('Address', { exact: true }).fill(accounts[0] as string)
      await page.keyboard.press('Enter')
      await page
        .getByLabel('Message CID', { exact: true })
        .fill(await send(accounts[1] as string, accounts[0] as string, '5'))
      await page.keyboard.press('Enter')
      await until(page, '#watch-list .amount', /\d/)
      await until(page, '#track-list .stage', /Waits|block/)
      const overflow = await page.evaluate(() => {
        const wide = document.documentElement.clientWidth
        const outside = [...document.querySelectorAll('main *, header *, footer *')].filter((one) => {
          const { left, right, width: w } = one.getBoundingClientRect()
          return w > 0 && (right > wide + 1 || left < -1) && !one.closest('.scroll, .sr, .skip')
        })
        return [document.documentElement.scrollWidth - wide, ...outside.map((one) => one.className || one.tagName)]
      })
      expect(overflow).toEqual([0])
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(paper).toBe(dark ? 'rgb(18, 21, 23)' : 'rgb(247, 246, 243)')
      expect(await lowContrast(page)).toEqual([])
      await shot(page, `${width}-${dark ? 'dark' : 'light'}`)
      expect(errors).toEqual([])
      await page.context().close()
    },
  )

  it('changes its colours by the button and remembers it', async () => {
    const { page } = await open()
    const paper = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await paper()
    await page.getByRole('button', { name: 'Dark colours' }).click()
    expect(await page.getByRole('button', { name: 'Dark colours' }).getAttribute('aria-pressed')).toBe('true')
    expect(await paper()).not.toBe(light)
    await page.reload()
    expect(await paper()).not.toBe(light)
    await page.context().close()
  })

  it('is walked by keyboard: everything has a name and a visible focus', async () => {
    const { page } = await open()
    const seen: string[] = []
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press('Tab')
      const at = await page.evaluate(() => {
        const element = document.activeElement
        if (element === null || element === document.body) return undefined
        const { outlineStyle, outlineWidth } = getComputedStyle(element)
        const labelled = element as HTMLInputElement
        const name =
          element.getAttribute('aria-label') ?? labelled.labels?.[0]?.textContent ?? element.textContent?.trim() ?? ''
        return { name, isVisible: outlineStyle !== 'none' && outlineWidth !== '0px', tag: element.tagName }
      })
      if (at === undefined) break
      expect(at.name, at.tag).not.toBe('')
      expect(at.isVisible, at.name).toBe(true)
      seen.push(at.name)
    }
    expect(seen[0]).toBe('Skip to content')
    for (const name of [
      'Base fee by epoch',
      'Waiting messages by sender',
      'Address',
      'Message CID',
      'Connected peers',
    ]) {
      expect(seen, name).toContain(name)
    }
    await page.locator('svg.fee').focus()
    await page.keyboard.press('ArrowLeft')
    const value = await page.locator('svg.fee').getAttribute('aria-valuetext')
    expect(value).toBe(await page.locator('#fee-read').textContent())
    await page.getByRole('button', { name: /^Node:/ }).click()
    expect(await page.getByRole('dialog', { name: 'Which node?' }).isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').isVisible()).toBe(false)
    await page.context().close()
  })

  it('has landmarks, headings in order, one name per id, labels for all controls', async () => {
    const { page } = await open()
    const found = await page.evaluate(() => {
      const problems: string[] = []
      const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
      if (new Set(ids).size !== ids.length) problems.push('an id stands twice')
      for (const role of ['header', 'main', 'nav', 'footer']) {
        if (document.querySelectorAll(`body > ${role}, body > header > ${role}`).length !== 1)
          problems.push(`no single ${role}`)
      }
      let level = 0
      for (const heading of document.querySelectorAll('h1, h2, h3')) {
        const next = Number(heading.tagName[1])
        if (next > level + 1) problems.push(`h${next} after h${level}`)
        level = next
      }
      for (const one of document.querySelectorAll<HTMLInputElement>('input, select, textarea')) {
        if ((one.labels?.length ?? 0) === 0) problems.push(`no label: ${one.outerHTML}`)
      }
      for (const one of document.querySelectorAll('button, a')) {
        if ((one.getAttribute('aria-label') ?? one.textContent?.trim() ?? '') === '')
          problems.push(`no name: ${one.outerHTML}`)
      }
      for (const one of document.querySelectorAll('[aria-labelledby], [aria-describedby]')) {
        for (const attribute of ['aria-labelledby', 'aria-describedby']) {
          for (const id of one.getAttribute(attribute)?.split(' ') ?? []) {
            if (document.getElementById(id) === null) problems.push(`${attribute} names ${id}`)
          }
        }
      }
      for (const svg of document.querySelectorAll('svg')) {
        if (svg.getAttribute('aria-hidden') !== 'true' && svg.getAttribute('aria-label') === null)
          problems.push('svg without name')
      }
      return problems
    })
    expect(found).toEqual([])
    await page.context().close()
  })

  it('says that the head is stale, and that the node is gone and back', async () => {
    const { page } = await open()
    await page.clock.install()
    await page.clock.setFixedTime(Date.now() + 3_600_000)
    await page.clock.runFor(1000)
    await until(page, '#notice', /^Stale: the newest tipset is \d+ epochs/)
    expect(await page.locator('#link').getAttribute('data-state')).toBe('stale')
    await shot(page, 'stale')
    await page.context().close()
  })

  it('shows an empty page with a reason when nobody answers', async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    await page.goto(`${server.url}/#server=ws://127.0.0.1:9/rpc/v1`)
    await until(page, '#notice', /Not connected/)
    await shot(page, 'offline')
    await context.close()
  })

  it('runs over a node in the tab that follows the local chain: validated here, so proven here', async () => {
    const { page, errors } = await open({ hash: `#follow=${chain.url}` })
    // A block that is made while the tab connects passes it by; the next one brings both.
    for (let blocks = 1; ; blocks++) {
      await mine(1)
      const { height } = await chain.node.ChainHead()
      const head = page.locator('#head-epoch', { hasText: new RegExp(`^${height}$`) })
      const seen = head.waitFor({ timeout: HEAD_MS, state: 'attached' }).then(() => true)
      if (await seen.catch((error: unknown) => (blocks < 4 ? false : Promise.reject(error as Error)))) break
    }
    await page.locator('#head-mark [data-source=proven]').waitFor({ timeout: SLOW_MS })
    await until(page, '#peers-box .id', /\w/)
    await page.locator('.chip, #watch-address').first().waitFor()
    await page.getByLabel('Address', { exact: true }).fill(accounts[0] as string)
    await page.keyboard.press('Enter')
    await page.locator('#watch-list .balance [data-source=proven]').waitFor({ timeout: SLOW_MS })
    await shot(page, 'follow')
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('runs over a local chain in the tab: executed here, so proven here', async () => {
    const { page, errors } = await open({ hash: '#local' })
    await page.locator('#head-mark [data-source=proven]').waitFor({ timeout: SLOW_MS })
    await page.locator('.chip').first().click()
    await page.locator('#watch-list .balance [data-source=proven]').waitFor({ timeout: SLOW_MS })
    expect(await page.locator('.epochs [data-source]:not([data-source=proven])').count()).toBe(0)
    const before = await headEpoch(page)
    await page.waitForFunction(
      (epoch) => Number((document.getElementById('head-epoch')?.textContent ?? '').replace(/\D/g, '')) > epoch,
      before,
      { timeout: SLOW_MS },
    )
    await shot(page, 'tab')
    expect(errors).toEqual([])
    await page.context().close()
  })
})

/** Texts whose contrast is below WCAG AA: 4.5, or 3 where they are large. */
async function lowContrast(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d') as OffscreenCanvasRenderingContext2D
    const rgba = (color: string): number[] => {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = color
      canvas.fillRect(0, 0, 1, 1)
      return [...canvas.getImageData(0, 0, 1, 1).data]
    }
    const luminance = (color: number[]): number => {
      const [r = 0, g = 0, b = 0] = color.slice(0, 3).map((one) => {
        const share = one / 255
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const behind = (element: Element): number[] => {
      for (let one: Element | null = element; one !== null; one = one.parentElement) {
        const color = rgba(getComputedStyle(one).backgroundColor)
        if ((color[3] ?? 0) === 255) return color
      }
      return [255, 255, 255, 255]
    }
    const out: string[] = []
    for (const element of document.querySelectorAll('body *')) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && (node.textContent ?? '').trim() !== '')
      const style = getComputedStyle(element)
      if (!own || element.getClientRects().length === 0 || style.visibility === 'hidden') continue
      if (element.closest('.sr, .skip, dialog') !== null) continue
      const text = luminance(rgba(element instanceof SVGElement ? style.fill : style.color))
      const back = luminance(behind(element))
      const ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05)
      if (ratio < (Number.parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) {
        out.push(`${element.className} "${element.textContent}" ${ratio.toFixed(2)}`)
      }
    }
    return out
  })
}
