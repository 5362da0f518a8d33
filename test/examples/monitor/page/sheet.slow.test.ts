/** Drill-down: one search field, a side sheet for tipset, block, message and address. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../../../support/chromium.ts'
import { axeViolations, overflow, SLOW_MS, shot, until, World } from './support.ts'

const TITLE = '#sheet-title'
const BODY = '#sheet-body'

let world: World

async function look(page: Page, text: string): Promise<void> {
  await page.getByLabel(/^Search/).fill(text)
  await page.keyboard.press('Enter')
}

/** Until every part of the sheet has its answer. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('#sheet [aria-busy=true]') === null, undefined, {
    timeout: SLOW_MS,
  })
}

async function headBlock(): Promise<{ height: number; cid: string; miner: string }> {
  const { height, key, blocks } = await world.chain.node.ChainHead()
  return { height, cid: String(key[0]), miner: blocks[0]?.miner.toString('t') ?? '' }
}

describe.skipIf(findChromium() === undefined)('sheet of the monitor', () => {
  beforeAll(async () => {
    world = await World.start()
    await world.mine(5)
  })

  afterAll(() => world?.close())

  it('shows a tipset, its block, its producer, and the way back', async () => {
    const { page, errors } = await world.open()
    const { height, cid, miner } = await headBlock()
    await look(page, String(height))
    await until(page, TITLE, new RegExp(`^Tipset ${height}$`))
    await settled(page)
    await page.getByRole('button', { name: `show block ${cid}` }).click()
    await until(page, TITLE, new RegExp(`^Block of epoch ${height}$`))
    await page.getByRole('button', { name: `show address ${miner}` }).click()
    await until(page, BODY, /storage provider/)
    await settled(page)
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Back' }).click()
    await until(page, TITLE, new RegExp(`^Block of epoch ${height}$`))
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').isVisible()).toBe(false)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('shows a message: where it is, its calls, what it moved, as the node itself says', async () => {
    const { page, errors } = await world.open()
    const [from, to] = world.accounts as [string, string]
    const cid = await world.send(from, to, '1500000000000000000')
    await look(page, cid)
    await until(page, BODY, /Nothing holds it up|nothing holds it up/)
    await until(page, BODY, /Not executed yet/)
    await world.mine(2)
    await page.keyboard.press('Escape')
    await until(page, '#head-epoch', new RegExp(`^${(await headBlock()).height}$`))
    await look(page, cid)
    await until(page, BODY, /0, it worked/)
    await settled(page)
    const { height } = await headBlock()
    await until(page, BODY, new RegExp(`Executed in\\s*${height}`))
    const calls = page.locator('.calls .call')
    expect(await calls.count()).toBe(1)
    expect(await calls.textContent()).toContain('1.5 FIL')
    await until(page, `${BODY} .sheet-list`, /1\.5 FIL/)
    await shot(page, 'message')
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('shows the calls inside of a message, and an account of Ethereum', async () => {
    const { page, errors } = await world.open()
    const [from, to] = world.accounts as [string, string]
    // The init actor makes the multisig and calls its constructor with the value.
    const { Message } = (await world.chain.transport.request('Filecoin.MsigCreate', [
      ...[1, [from, to], 0, '7000000000000000000', from, '0'],
    ])) as { Message: { To: string; Value: string; Method: number; Params: string } }
    const { Method, Params } = Message
    const cid = await world.send(from, Message.To, Message.Value, { Method, Params })
    await world.mine(2)
    await until(page, '#head-epoch', new RegExp(`^${(await headBlock()).height}$`))
    await look(page, cid)
    await until(page, BODY, /0, it worked/)
    await settled(page)
    const inner = page.locator('.calls ul .call')
    expect(await inner.count()).toBe(1)
    expect(await inner.textContent()).toMatch(/method 1.*7 FIL/)
    await page.keyboard.press('Escape')
    await look(page, world.accounts.find((one) => one.startsWith('t410')) as string)
    await until(page, BODY, /Ethereum/)
    await until(page, BODY, /0x[0-9a-f]{40}/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('fits a narrow window, is reached by “/”, and says when there is nothing', async () => {
    const { page } = await world.open({ width: 320, dark: true })
    await page.keyboard.press('/')
    await page.keyboard.type(world.accounts[0] as string)
    await page.keyboard.press('Enter')
    await until(page, BODY, /account/)
    await settled(page)
    expect(await overflow(page)).toEqual([0])
    expect(await axeViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page
      .getByRole('button', { name: /colours|theme|dark|light/i })
      .first()
      .focus()
    await page.keyboard.press('/')
    await page.keyboard.type('nonsense')
    await page.keyboard.press('Enter')
    await until(page, TITLE, /^Not found$/)
    expect(await page.getByLabel(/^Search/).inputValue()).toBe('nonsense')
    await page.getByRole('button', { name: 'Close' }).click()
    await look(page, 'bafy2bzacecnamqgqmifpluoeldx7zzglxcljo6oja4vrmtj7432rphldpdmm2')
    await until(page, BODY, /neither a block nor a message/)
    await page.context().close()
  })
})
