/** Two followers of a chain as processes with one index: the one that writes is killed with -9, the other goes on where it stood. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { connect } from './indexed.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

/** What the second may need. */
const TAKEOVER_MS = 10_000

describe.skipIf(missing !== undefined)('two writers', () => {
  let postgres: TestPostgres
  const nodes: NodeProcess[] = []
  const homes: string[] = []
  const home = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'petrel-takeover-'))
    homes.push(made)
    return made
  }

  beforeAll(async () => {
    postgres = await TestPostgres.start()
  }, 60_000)
  afterAll(async () => {
    for (const node of nodes) await node.kill()
    await postgres?.end()
    for (const one of homes) rmSync(one, { recursive: true, force: true })
  })

  const started = async (args: readonly string[], at = home()): Promise<NodeProcess> => {
    const node = await startNode('node', at, args)
    nodes.push(node)
    return node
  }
  const ready = async (node: NodeProcess): Promise<string> => (await fetch(`${node.url}/health/readyz`)).text()

  test('the second goes on within ten seconds', { timeout: 180_000 }, async () => {
    const local = ['--api', '0', '--listen', '/ip4/127.0.0.1/tcp/0']
    const chainHome = home()
    const chain = await started(['devnet', ...local, '--actors', 'native', '--block-time', '1'], chainHome)
    const address = await vi.waitUntil(() => /other nodes on (\S+)/.exec(chain.output())?.[1], { timeout: 20_000 })
    const follow = ['daemon', ...local, '--network', join(chainHome, 'network.json'), '--bootstrap', address]
    const index = ['--index', postgres.url(), '--index-from', '0']
    const first = await started([...follow, ...index])
    await vi.waitFor(async () => expect(await ready(first)).toMatch(/index: at epoch \d+/), { timeout: 60_000 })
    const second = await started([...follow, ...index])
    await vi.waitFor(async () => expect(await ready(second)).toContain('another writer has it'), { timeout: 60_000 })
    const sql = connect(postgres.url())
    const height = async (): Promise<number> => Number((await sql`select height from petrel.chain`)[0]?.height)
    await vi.waitFor(async () => expect(await height()).toBeGreaterThan(5), { timeout: 60_000, interval: 100 })
    // In sync itself: what it has to fetch is not counted.
    const synced = async (): Promise<void> =>
      expect(Number(/head at epoch (\d+)/.exec(await ready(second))?.[1])).toBeGreaterThan(await height())
    await vi.waitFor(synced, { timeout: 60_000, interval: 100 })
    const stood = await height()
    const began = performance.now()
    await first.kill()
    await vi.waitFor(async () => expect(await ready(second)).toMatch(/index: at epoch \d+/), {
      timeout: 30_000,
      interval: 50,
    })
    const took = performance.now() - began
    await vi.waitFor(async () => expect(await height()).toBeGreaterThan(stood + 1), { timeout: 60_000, interval: 50 })
    const wrote = performance.now() - began
    // Every tipset stands on the one before: nothing is missing, nothing is there twice.
    const rows = await sql`select t.height, p.tipset is not null as stands from petrel.tipsets t
      left join petrel.tipsets p on p.tipset = t.parent and p.canonical where t.canonical order by t.height`
    await sql.end()
    expect(rows.length).toBeGreaterThan(stood)
    expect(rows.filter(({ stands }) => stands !== true).map(({ height: at }) => Number(at))).toEqual([0])
    console.log(
      `the second had the index ${Math.round(took)} ms after the kill of the first, ${Math.round(wrote)} ms: two epochs more`,
    )
    expect(took).toBeLessThan(TAKEOVER_MS)
  })
})
