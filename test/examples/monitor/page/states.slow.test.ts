/** What the page says when not all is well: causes by name, slow links, what needs attention. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LocalChain, startLocalChain } from '../../../../scripts/monitor/localChain.ts'
import { LinkProxy } from '../../../network/linkProxy.ts'
import { findChromium } from '../../../support/chromium.ts'
import { axeViolations, shot, until, World } from './support.ts'

let world: World
/** Another chain, which lets no page of another origin in. */
let other: LocalChain

const portOf = ({ url }: LocalChain): number => Number(new URL(url).port)

describe.skipIf(findChromium() === undefined)('states of the monitor', () => {
  beforeAll(async () => {
    world = await World.start()
    await world.mine(4)
    other = await startLocalChain('http://nobody.example', 77)
    await other.node.DevnetMine(2, { nullRounds: 0, fork: 0 })
  })

  afterAll(async () => {
    await other?.stop()
    await world?.close()
  })

  it('names the cause when nobody answers, and when a node lets this page not in', async () => {
    const refused = await world.openBare({ hash: '#server=ws://127.0.0.1:1/rpc/v1' })
    await until(refused.page, '#notice', /Not connected: nobody answers at 127\.0\.0\.1:1/)
    await until(refused.page, '#status-word', /^Offline$/)
    expect(await refused.page.locator('.strip .bone').count(), 'nothing is known').toBeGreaterThan(3)
    await refused.page.context().close()
    const foreign = await world.openBare({ hash: `#server=${other.url}` })
    await until(foreign.page, '#notice', new RegExp(`CORS.*--cors-origin ${world.server.url}`))
    await foreign.page.context().close()
  })

  it.each([50, 300])('accuses nobody over a link of %i ms, and comes to all values', async (delayMs) => {
    const link = await LinkProxy.open(portOf(world.chain))
    link.heal(delayMs / 2)
    const settings = { watched: [{ address: `f${world.accounts[0]?.slice(1)}`, label: 'Far' }] }
    const { page, errors } = await world.open({ hash: `#server=ws://127.0.0.1:${link.port}/rpc/v1`, settings })
    // Heads that come faster than the answers: questions overlap.
    for (let i = 0; i < 5; i++) await world.mine(1)
    const { height } = await world.chain.node.ChainHead()
    await until(page, '#head-epoch', new RegExp(`^${height}$`))
    await until(page, '#watch-list .amount', /\d/)
    await until(page, '#finality-read', /final after|final \d+ epochs below/)
    expect(await page.locator('#notice').isVisible()).toBe(false)
    await until(page, '#status-word', /^(In sync|Ahead \d+|Behind \d+)$/)
    expect(errors).toEqual([])
    await page.context().close()
    await link.close()
  })

  it('greys what is from before, and takes it up again', async () => {
    const link = await LinkProxy.open(portOf(world.chain))
    const { page } = await world.open({ hash: `#server=ws://127.0.0.1:${link.port}/rpc/v1` })
    link.cut()
    await until(page, '#status-word', /^Offline$/)
    await until(page, '#notice', /What is shown is from before/)
    await page.locator('body.is-offline').waitFor()
    expect(await page.locator('#head-epoch').textContent(), 'the value stays').toMatch(/^\d/)
    expect(await page.title()).toMatch(/^⚠/)
    expect(await axeViolations(page)).toEqual([])
    await shot(page, 'offline')
    link.heal()
    // It also comes back by itself, and the button is gone then.
    await page.evaluate(() => document.querySelector<HTMLButtonElement>('#notice button')?.click())
    await until(page, '#status-word', /^(In sync|Ahead \d+|Behind \d+)$/)
    await page.locator('body.is-offline').waitFor({ state: 'detached' })
    await page.context().close()
    await link.close()
  })

  it('says that a node came back with another chain, and shows nothing of the old one', async () => {
    // Both behind one address: this page's own origin is foreign to neither.
    const twin = await startLocalChain(world.server.url, 55)
    await twin.node.DevnetMine(3, { nullRounds: 0, fork: 0 })
    const link = await LinkProxy.open(portOf(world.chain))
    const { page } = await world.open({ hash: `#server=ws://127.0.0.1:${link.port}/rpc/v1` })
    link.retarget(portOf(twin))
    await until(page, '#notice', /another chain than before/)
    await until(page, '#head-epoch', /^3$/)
    expect(await page.locator('.epochs tbody .look').count(), 'genesis and three epochs').toBe(4)
    await page.getByRole('button', { name: 'Understood' }).click()
    await page.locator('#notice').waitFor({ state: 'hidden' })
    await page.context().close()
    await link.close()
    await twin.stop()
  })

  it('calls for attention: a message that is stuck, with the command; a gap; limits; an old head', async () => {
    const [, poor, rich] = world.accounts as [string, string, string]
    const printed = (address: string): string => `f${address.slice(1)}`
    const settings = {
      watched: [
        { address: printed(poor), label: 'Withdrawals', floor: '9000000000000000000000000' },
        { address: printed(rich), label: 'Vault' },
      ],
      feeLimit: '1',
    }
    const { page, errors } = await world.open({ settings })
    const cid = await world.send(poor, rich, '1', { GasFeeCap: '101', GasPremium: '1' })
    await until(page, '#pool-box summary', /1 message/)
    await world.mine(1)
    await until(page, '#attention-list', /Message \d+ of Withdrawals is stuck/)
    await until(page, '#attention-list', /fee cap is 101 attoFIL, the base fee/)
    await page.getByRole('button', { name: 'Copy command' }).first().click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`petrel mpool replace --auto ${cid}`)
    await until(page, '#attention-list', /Low balance of Withdrawals/)
    await until(page, '#attention-list', /High base fee/)
    expect(await page.title()).toMatch(/^⚠ \d+/)
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toContain('c8780a')
    // What the node itself signs with a nonce of the future waits for the one between.
    const nonce = Number(await world.chain.transport.request('Filecoin.MpoolGetNonce', [rich]))
    const plain = { Version: 0, To: poor, From: rich, Value: '1', Method: 0, Params: null }
    const message = { ...plain, Nonce: nonce + 1, GasLimit: 2_000_000, GasFeeCap: '9000000000', GasPremium: '100000' }
    const signed = await world.chain.transport.request('Filecoin.WalletSignMessage', [rich, message])
    await world.chain.transport.request('Filecoin.MpoolPush', [signed])
    await page.locator('#pool-box summary').nth(1).waitFor()
    await world.mine(1)
    await until(page, '#attention-list', new RegExp(`nonce ${nonce} is missing`, 'i'))
    await until(page, '#attention-list', new RegExp(`--from ${rich} --nonce ${nonce}`))
    await shot(page, 'attention')
    await page.clock.install()
    await page.clock.setFixedTime(Date.now() + 3_600_000)
    await page.clock.runFor(2000)
    await until(page, '#attention-list', /Old head/)
    await until(page, '#status-word', /^Behind \d+$/)
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('takes limits from the reader, keeps them, and refuses what is no number', async () => {
    const { page } = await world.open()
    await page.getByText('Limits', { exact: true }).click()
    const limit = page.getByLabel(/^Base fee above/)
    await limit.fill('dear')
    await limit.blur()
    expect(await limit.getAttribute('aria-invalid')).toBe('true')
    await limit.fill('0.000000001')
    await limit.blur()
    await until(page, '#attention-list', /High base fee/)
    await page.reload()
    await until(page, '#attention-list', /High base fee/)
    expect(await page.locator('#fee-limit').inputValue()).toBe('0.000000001')
    await page.context().close()
  })

  it('shows the base fee over a day, as far as the chain goes', async () => {
    const { page, errors } = await world.open()
    await page.getByRole('button', { name: '24 h' }).click()
    await page.getByRole('button', { name: '24 h', pressed: true }).waitFor()
    await until(page, '#fee-read', /(atto|nano)FIL at \d\d:\d\d, epoch \d+/)
    await page.locator('svg.fee').focus()
    await page.keyboard.press('Home')
    await until(page, '#fee-read', /epoch 0$/)
    // At the same moment: samples still come, and the place that was chosen moves with them.
    const [shown, said] = await page.evaluate(() => [
      document.querySelector('#fee-read')?.textContent,
      document.querySelector('svg.fee')?.getAttribute('aria-valuetext'),
    ])
    expect(said).toBe(shown)
    expect(errors).toEqual([])
    await page.context().close()
  })
})
