/** Where a replica's blocks come from besides RPC endpoints: a peer; an archive in a file, behind HTTP, in a bucket with keys. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { Bucket } from '../support/bucket.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { ROOT } from '../support/shared.ts'
import { ask, type Result } from './askedProcess.ts'
import { connect } from './indexed.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

const KEYS = { accessKeyId: 'somebody', secretAccessKey: 'a secret of a test' }
const OBJECT = '/bucket/chain.forest.car.zst'

describe.skipIf(missing !== undefined)('blocks of a replica', () => {
  let postgres: TestPostgres
  let writer: NodeProcess
  let writerHome: string
  const replicas: NodeProcess[] = []
  const homes: string[] = []
  const home = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'petrel-replica-blocks-'))
    homes.push(made)
    return made
  }
  const replica = async (blocks: string, env: Readonly<Record<string, string>> = {}): Promise<NodeProcess> => {
    const args = ['replica', '--api', '0', '--network', join(writerHome, 'network.json'), '--index', postgres.url()]
    const started = await startNode('node', home(), [...args, '--blocks', blocks], 60_000, env)
    replicas.push(started)
    return started
  }
  const head = async (node: NodeProcess): Promise<Result> => (await ask(node, 'Filecoin.ChainHead', [])).result

  beforeAll(async () => {
    postgres = await TestPostgres.start()
    writerHome = home()
    writer = await startNode('node', writerHome, [
      ...['devnet', '--api', '0', '--listen', '/ip4/127.0.0.1/tcp/0', '--actors', 'native', '--block-time', '1'],
      ...['--index', postgres.url(), '--index-from', '0'],
    ])
    await vi.waitFor(async () => expect((await head(writer)).Height).toBeGreaterThan(5), { timeout: 60_000 })
  }, 120_000)
  afterAll(async () => {
    for (const node of [...replicas, writer]) await node?.kill()
    await postgres?.end()
    for (const one of homes) rmSync(one, { recursive: true, force: true })
  })

  /** What is asked of both, at an epoch that both have: state, and what is executed. */
  const questions = ({ Cids, Height }: Result): [method: string, params: unknown[]][] => [
    ['Filecoin.StateReadState', ['f02', Cids]],
    ['Filecoin.StateListMiners', [Cids]],
    ['eth_getBlockByNumber', [`0x${(Height - 1).toString(16)}`, true]],
  ]
  const answers = async (node: NodeProcess, at: Result): Promise<Result[]> => {
    const all = await Promise.all(questions(at).map(([method, params]) => ask(node, method, params)))
    expect(all.map(({ error }) => error)).toEqual(all.map(() => undefined))
    return all.map(({ result }) => result)
  }

  test('a peer', { timeout: 120_000 }, async () => {
    const address = await vi.waitUntil(() => /other nodes on (\S+)/.exec(writer.output())?.[1], { timeout: 20_000 })
    const node = await replica(address)
    const at = await head(node)
    expect(await answers(node, at)).toEqual(await answers(writer, at))
    // It follows by what the peer has.
    await vi.waitFor(async () => expect((await head(node)).Height).toBeGreaterThan(at.Height + 1), { timeout: 30_000 })
    const later = await head(node)
    expect(await answers(node, later)).toEqual(await answers(writer, later))
    await node.kill()
  })

  describe('an archive, when the writer is gone:', () => {
    let path: string
    let at: Result
    let expected: Result[]

    beforeAll(async () => {
      at = await head(writer)
      expected = await answers(writer, at)
      const sql = connect(postgres.url())
      const isIndexed = async (): Promise<void> =>
        expect(Number((await sql`select height from petrel.chain`)[0]?.height)).toBeGreaterThanOrEqual(at.Height)
      await vi.waitFor(isIndexed, { timeout: 60_000, interval: 100 })
      await sql.end()
      await writer.stop()
      path = join(home(), 'chain.forest.car.zst')
      const command = ['--repo', writerHome, 'snapshot', 'export', path, '--full', '--format', 'forest']
      const exported = spawnSync(process.execPath, [join(ROOT, 'bin/petrel.js'), ...command], {
        encoding: 'utf8',
        env: { ...process.env, FULLNODE_API_INFO: '' },
      })
      expect(exported.stderr + exported.stdout).toMatch(/epoch|bytes|MiB/)
      expect(exported.status).toBe(0)
    }, 120_000)

    async function expectAnswers(blocks: string, env?: Readonly<Record<string, string>>): Promise<void> {
      const node = await replica(blocks, env)
      expect((await head(node)).Height).toBeGreaterThanOrEqual(at.Height)
      expect(await answers(node, at)).toEqual(expected)
      await node.kill()
    }

    test('in a file', { timeout: 120_000 }, () => expectAnswers(path))

    test.each([
      ['behind HTTP', undefined],
      ['in a bucket with keys', KEYS],
    ])('%s', { timeout: 120_000 }, async (_, keys) => {
      const bucket = await Bucket.start(new Map([[OBJECT, readFileSync(path)]]), keys)
      try {
        if (keys === undefined) await expectAnswers(`${bucket.url}${OBJECT}`)
        else {
          await expectAnswers(`s3:/${OBJECT}`, {
            ...{ AWS_ENDPOINT_URL_S3: bucket.url, AWS_REGION: 'us-east-1' },
            ...{ AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey },
          })
        }
        // Its end, which has the index, and what that leads to.
        expect(bucket.tokens.length).toBeGreaterThan(1)
      } finally {
        bucket.end()
      }
    })
  })
})
