/**
 * The page in Chromium against a local chain and against a node in the tab. Screenshots go to `coverage/monitor/`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../../../support/chromium.ts'
import { headEpoch, SLOW_MS, shot, until, World } from './support.ts'

/** Time for a block to reach the tab. */
const HEAD_MS = 6_000

let world: World

describe.skipIf(findChromium() === undefined)('monitor page', () => {
  beforeAll(async () => {
    world = await World.start()
    await world.mine(4)
    await world.mine(1, 2)
  })

  afterAll(() => world?.close())

  it('ticks with the head, shows null rounds and reorganisations, and nothing moves', async () => {
    const { page, errors } = await world.open()
    const before = await headEpoch(page)
    expect(await page.locator('.epochs .is-null').count()).toBe(2)
    const layout = (): Promise<number[]> =>
      page.evaluate(() => [...document.querySelectorAll('.chain .panel')].map((one) => one.getBoundingClientRect().top))
    const places = await layout()
    await world.mine(1)
    await until(page, '#head-epoch', new RegExp(`^${before + 1}$`))
    await world.mine(2)
    await until(page, '#head-epoch', new RegExp(`^${before + 3}$`))
    await world.mine(1, 0, 2)
    await until(page, '#epochs-note', /last reorganisation: \d epochs? from/)
    await until(page, '#attention-list', /Reorganisation of 2 epochs/)
    expect(await layout()).toEqual(places)
    expect(await page.locator('#head-mark [data-source=server]').count()).toBe(1)
    expect(await page.locator('[data-source=proven]').count(), 'only the legend names it').toBe(1)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('watches an address: balance, a transfer as it arrives, kept after a reload', async () => {
    const { page, errors } = await world.open()
    const [rich, , , poor] = world.accounts as [string, string, string, string]
    await page.getByLabel('Address', { exact: true }).fill('t1nonsense')
    await page.getByRole('button', { name: 'Watch', exact: true }).click()
    await until(page, '#watch-error', /no Filecoin address/)
    await page.getByLabel('Address', { exact: true }).fill(poor)
    await page.getByLabel('Name', { exact: true }).fill('Deposits')
    await page.keyboard.press('Enter')
    await until(page, '#watch-list .amount', /^1\D000\D000$/)
    await world.send(rich, poor, '1500000000000000000')
    await until(page, '#watch-list .pending', /1 waiting to come in/)
    await world.mine(2)
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
    const { page, errors } = await world.open()
    const [from, to] = world.accounts as [string, string]
    const cid = await world.send(from, to, '7')
    await page.getByLabel('confirmed after', { exact: true }).fill('3')
    await page.getByLabel('Message CID', { exact: true }).fill(cid)
    await page.keyboard.press('Enter')
    const stage = '#track-list [data-stage]'
    const reached = (at: string): Promise<void> =>
      page.locator(`${stage}[data-stage=${at}]`).waitFor({ timeout: SLOW_MS })
    await reached('pending')
    await shot(page, 'pending')
    await world.mine(1)
    await reached('included')
    await world.mine(1)
    await reached('executed')
    await world.mine(3)
    await reached('confirmed')
    expect(await page.locator('#track-list [aria-current=step]').textContent()).toBe('confirmed')
    await until(page, '#live', /is confirmed/)
    await page.getByRole('button', { name: /^Stop tracking/ }).click()
    await page.locator('#track-list li.card').waitFor({ state: 'detached', timeout: SLOW_MS })

    const first = await world.send(from, to, '8')
    await until(page, '#pool-box summary', /1 message/)
    await page.locator('#pool-box summary').first().click()
    await page.getByRole('button', { name: /^Track message/ }).click()
    await reached('pending')
    const pending = (await world.chain.transport.request('Filecoin.MpoolPending', [[]])) as {
      Message: object
      CID: { '/': string }
    }[]
    const old = pending.find((one) => one.CID['/'] === first)?.Message as { GasPremium: string; GasFeeCap: string }
    const dear = { ...old, GasPremium: '200000000', GasFeeCap: '900000000' }
    const signed = await world.chain.transport.request('Filecoin.WalletSignMessage', [from, dear])
    await world.chain.transport.request('Filecoin.MpoolPush', [signed])
    await reached('replaced')
    await world.mine(2)
    await until(page, stage, /took its nonce/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('changes its colours by the button and remembers it', async () => {
    const { page } = await world.open()
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
    const { page } = await world.open()
    const seen: string[] = []
    for (let i = 0; i < 200; i++) {
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
      'Base fee over time',
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

  it('runs over a node in the tab that follows the local chain: validated here, so proven here', async () => {
    const { page, errors } = await world.open({ hash: `#follow=${world.chain.url}` })
    // A block that is made while the tab connects passes it by; the next one brings both.
    for (let blocks = 1; ; blocks++) {
      await world.mine(1)
      const { height } = await world.chain.node.ChainHead()
      const head = page.locator('#head-epoch', { hasText: new RegExp(`^${height}$`) })
      const seen = head.waitFor({ timeout: HEAD_MS, state: 'attached' }).then(() => true)
      if (await seen.catch((error: unknown) => (blocks < 4 ? false : Promise.reject(error as Error)))) break
    }
    await page.locator('#head-mark [data-source=proven]').waitFor({ timeout: SLOW_MS })
    await until(page, '#peers-box .id', /\w/)
    await page.locator('.chip, #watch-address').first().waitFor()
    await page.getByLabel('Address', { exact: true }).fill(world.accounts[0] as string)
    await page.keyboard.press('Enter')
    await page.locator('#watch-list .balance [data-source=proven]').waitFor({ timeout: SLOW_MS })
    await shot(page, 'follow')
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('runs over a local chain in the tab: executed here, so proven here', async () => {
    const { page, errors } = await world.open({ hash: '#local' })
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
