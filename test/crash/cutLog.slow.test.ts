/**
 * A log of Chromium's database whose last record was cut off, as a killed browser or a full disk leaves it: what a tab writes behind it is there
 * at the start after that, and its keys are. (Chromium deleted all of it: https://github.com/google/leveldb/issues/1287.) And a database
 * that Chromium deletes nevertheless: the keys are there, from their copy.
 */
import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { PASSPHRASE, serveTab, tabAdmin } from '../runtimes/chromiumHost.ts'
import { findChromium, launchProfile } from '../support/chromium.ts'
import { until } from '../support/until.ts'

const profile = mkdtempSync(join(tmpdir(), 'petrel-cut-log-'))
afterAll(() => rmSync(profile, { recursive: true, force: true }))

/** A record's header (checksum, length, the first of several parts) and the beginning of what it says it has. */
const CUT = Uint8Array.from([1, 2, 3, 4, 0xe8, 3, 2, ...Array.from({ length: 40 }, (_, i) => i)])

/** Of the page's own database, which has one of each; its storage buckets lie elsewhere. */
function fileOf(name: RegExp): string {
  const folder = join(profile, 'Default/IndexedDB')
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) => name.test(one))
  expect(found).toHaveLength(1)
  return join(folder, found[0] as string)
}

it.skipIf(findChromium() === undefined)(
  'a tab outlives cuts of its log, and its keys their database',
  async () => {
    const server = await serveTab()
    const addresses: string[] = []
    let head = 0
    const starts = 4
    try {
      for (let start = 0; start < starts; start++) {
        const isDeleted = start === starts - 1
        const context = await launchProfile(profile)
        try {
          const page = await server.openPage(context, [])
          const node = { kind: 'local', devnet: { blockTimeMs: 300 } }
          await page.evaluate(`startTab(${JSON.stringify({ node, passphrase: PASSPHRASE })})`)
          const { client } = await tabAdmin(page)
          expect(await page.evaluate('tab.state.isLost')).toBe(isDeleted)
          if (isDeleted) head = 0
          expect((await client.call('ChainHead')).Height).toBeGreaterThanOrEqual(head)
          const kept: string[] = await client.call('WalletList')
          expect(addresses.every((address) => kept.includes(address))).toBe(true)
          addresses.push(await client.call('WalletNew', 'secp256k1'))
          const before = head
          await until(async () => {
            head = (await client.call('ChainHead')).Height
            return head > before + 2
          }, 'blocks')
        } finally {
          await context.close()
        }
        if (start < starts - 2) appendFileSync(fileOf(/\d\.log$/), CUT)
        else writeFileSync(fileOf(/MANIFEST-\d+$/), 'damaged')
      }
    } finally {
      server.close()
    }
  },
  120_000,
)
