/** What a node that runs as a process says: by part and level, as it was started and as it is told later, as objects. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { startNode } from '../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { ROOT } from '../support/shared.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-levels-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The objects that a node printed from a place in its output on. */
function events(output: string, from = 0): { level: string; part: string; message: string }[] {
  const lines = output.slice(from).split('\n')
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as ReturnType<typeof events>[0])
}

describe('the log', { timeout: 120_000 }, () => {
  it('has a level for each part, which can be changed while the node runs', async () => {
    const flags = ['--no-net', '--actors', 'native', '--manual', '--log', 'error,mempool=info', '--log-format', 'json']
    const node = await startNode('node', join(folder, 'home'), ['devnet', '--api', '0', ...flags])
    try {
      const client = new RpcClient(node.url, node.token)
      const [first, second]: Answer[] = await client.call('DevnetAccounts')
      const send = (): Promise<Answer> =>
        client.call('MpoolPushMessage', { From: first.Address, To: second.Address, Value: '1' }, null)
      const mine = (): Promise<Answer> => client.call('DevnetMine', 1, { NullRounds: 0, Fork: 0 })
      await send()
      await mine()
      await until(() => events(node.output()).some(({ message }) => message === 'sent'), 'it is said to be sent')
      expect([...new Set(events(node.output()).map(({ part, level }) => `${part} ${level}`))]).toEqual(['mempool info'])
      const said = node.output().length
      await client.call('LogSetLevel', 'chain', 'info')
      await client.call('LogSetLevel', 'mempool', 'error')
      await send()
      // Heads in quick succession are told together.
      await until(async () => {
        await mine()
        return events(node.output(), said).some(({ message }) => message === 'head')
      }, 'a head is told')
      expect([...new Set(events(node.output(), said).map(({ part }) => part))]).toEqual(['chain'])
      // go-log v2, setup.go: ErrNoSuchLogger.
      await expect(client.call('LogSetLevel', 'nonsense', 'info')).rejects.toThrow('error: No such logger')
    } finally {
      await node.stop()
    }
  })

  it('refuses a part that there is not, before anything is written', async () => {
    const home = join(folder, 'none')
    const args = [join(ROOT, 'bin/petrel.js'), '--repo', home, 'devnet', '--api', '0', '--log', 'info,p2q=debug']
    const failure = await promisify(execFile)(process.execPath, args).catch((error: unknown) => error as Error)
    expect(failure).toMatchObject({ code: 2, stderr: expect.stringMatching(/no part is called p2q.* p2p, /) as string })
    expect(existsSync(home)).toBe(false)
  })
})
