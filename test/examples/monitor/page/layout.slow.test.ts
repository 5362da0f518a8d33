/** How the page fits: widths, colours, what axe finds, what stands first. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../../../support/chromium.ts'
import { axeViolations, overflow, shot, until, World } from './support.ts'

const WIDTHS = [320, 360, 768, 1440, 2560]

let world: World

/** Left edges of the columns that panels stand in. */
async function columns(page: Page): Promise<number> {
  const lefts = await page.evaluate(() =>
    [...document.querySelectorAll('.board .panel')]
      .filter((one) => one.getBoundingClientRect().width > 0)
      .map((one) => Math.round(one.getBoundingClientRect().left)),
  )
  return new Set(lefts).size
}

/** Panels from top to bottom. */
async function order(page: Page): Promise<string[]> {
  return await page.evaluate(() =>
    [...document.querySelectorAll('.board .panel')]
      .filter((one) => one.getBoundingClientRect().height > 0)
      .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
      .map(({ id }) => id),
  )
}

describe.skipIf(findChromium() === undefined)('layout of the monitor', () => {
  beforeAll(async () => {
    world = await World.start()
    await world.mine(6)
    await world.mine(1, 2)
  })

  afterAll(() => world?.close())

  it.each(WIDTHS)('fits %i px, light and dark, and axe finds nothing', async (width) => {
    const { accounts } = world
    const watched = [{ address: `f${accounts[0]?.slice(1)}`, label: 'Hot wallet', floor: '5000000000000000000000000' }]
    const gas = { GasFeeCap: '101', GasPremium: '1' }
    const tracked = [await world.send(accounts[1] as string, accounts[0] as string, '5', gas)]
    const settings = { watched, tracked, confirmations: 5, feeLimit: '1' }
    const { page, errors } = await world.open({ width, settings })
    await until(page, '#watch-list .amount', /\d/)
    await until(page, '#track-list .stage', /Waits|block/)
    await until(page, '#attention-list', /Low balance of Hot wallet/)
    await until(page, '#attention-list', /High base fee/)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await overflow(page)).toEqual([0])
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(paper).toBe(colorScheme === 'dark' ? 'rgb(18, 21, 23)' : 'rgb(247, 246, 243)')
      expect(await axeViolations(page)).toEqual([])
      await shot(page, `${width}-${colorScheme}`)
    }
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('uses the columns that there are', async () => {
    for (const [width, wanted] of [
      [360, 1],
      [1440, 2],
      [2560, 4],
    ] as const) {
      const { page } = await world.open({ width })
      expect(await columns(page), `${width} px`).toBe(wanted)
      await page.context().close()
    }
  })

  it('has attention and addresses first where there is one column', async () => {
    const { page } = await world.open({ width: 360 })
    expect((await order(page)).slice(0, 3)).toEqual(['attention', 'watch', 'messages'])
    await page.context().close()
  })

  it('has landmarks, headings in order, one name per id', async () => {
    const { page } = await world.open()
    const found = await page.evaluate(() => {
      const problems: string[] = []
      const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
      if (new Set(ids).size !== ids.length) problems.push('an id stands twice')
      for (const role of ['header', 'main', 'search', 'footer']) {
        if (document.querySelectorAll(`body > ${role}, body > header > ${role}`).length !== 1)
          problems.push(`no single ${role}`)
      }
      let level = 0
      for (const heading of document.querySelectorAll('h1, h2, h3')) {
        const next = Number(heading.tagName[1])
        if (next > level + 1) problems.push(`h${next} after h${level}`)
        level = next
      }
      return problems
    })
    expect(found).toEqual([])
    await page.context().close()
  })
})
