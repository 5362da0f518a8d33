/** What a real daemon without keys of storage proofs says that it presumes, and where; and that it can be told not to start so. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { missingShared, sharedPath } from '../support/shared.ts'

const CHAIN = 'data/golden/nv28'
const KINDS = 'winning PoSt, window PoSt, seals, sector updates, aggregated seals'

describe.skipIf(missingShared(CHAIN) !== undefined)('a daemon without keys', () => {
  let home = ''
  let args: string[] = []
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'petrel-presumed-'))
    // A recorded chain as if its proofs were real.
    const network = JSON.parse(readFileSync(sharedPath(`${CHAIN}/network.json`), 'utf8')) as Record<string, unknown>
    const file = join(home, 'network.json')
    writeFileSync(file, JSON.stringify({ ...network, proofs: 'verify' }))
    args = ['daemon', '--network', file, '--snapshot', sharedPath(`${CHAIN}/chain.car.zst`), '--api', '0', '--no-net']
  })
  afterAll(() => rmSync(home, { recursive: true }))

  it.each([
    [[], `presumed, not verified, for lack of keys: ${KINDS} (see petrel proofs fetch)`],
    [['--proofs', 'receipts'], 'presumed, not verified: storage proofs (--proofs receipts)'],
  ])('says in its log, by SyncPresumed and in health what is presumed: %s', async (flags, line) => {
    const node = await startNode('node', join(home, `home${flags.length}`), [...args, ...flags])
    try {
      expect(node.output()).toContain(line)
      expect(await new RpcClient(node.url, node.token).call('SyncPresumed')).toBe(line)
      for (const path of ['livez', 'readyz']) {
        expect(await (await fetch(new URL(`/health/${path}`, node.url))).text()).toContain(`${line}\n`)
      }
    } finally {
      await node.stop()
    }
  })

  it('does not start with --proofs verify', async () => {
    const started = startNode('node', join(home, 'home'), [...args, '--proofs', 'verify'])
    await expect(started).rejects.toThrow(
      `Cannot start with --proofs verify: presumed, not verified, for lack of keys: ${KINDS}`,
    )
  })
})
