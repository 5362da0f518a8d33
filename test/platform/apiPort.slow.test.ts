/** The port that a node's API listens on: one node has it, whatever kind of address it is. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type NodeProcess, RUNTIMES, startNode } from '../runtimes/nodeProcess.ts'
import { freePort } from '../support/freePort.ts'
import { ROOT } from '../support/shared.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-port-'))
const DEVNET = ['devnet', '--no-net', '--actors', 'native', '--block-time', '1']

const running: NodeProcess[] = []
afterEach(async () => {
  for (const node of running.splice(0)) await node.kill()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(Object.keys(RUNTIMES))('a port in %s', { timeout: 120_000 }, (runtime) => {
  const start = async (name: string, ...args: string[]): Promise<NodeProcess> => {
    const node = await startNode(runtime, join(folder, `${runtime}-${name}`), [...DEVNET, ...args])
    running.push(node)
    return node
  }

  it('is one node’s, also where two start at the same time, and where each shares it with its threads', async () => {
    const port = await freePort()
    const started = await Promise.allSettled(['one', 'other'].map((name) => start(name, '--api', String(port))))
    const refused = started.filter(({ status }) => status === 'rejected')
    expect(started.length - refused.length).toBe(1)
    expect(String((refused[0] as PromiseRejectedResult).reason)).toMatch(
      /ended with 1:\n.*Cannot listen on 127\.0\.0\.1:/s,
    )
    // Nor can one that listens on all addresses have it.
    await expect(start('all', '--api', String(port), '--api-host', '0.0.0.0')).rejects.toThrow('Cannot listen on')
  })

  it('is found by commands where it is one of IPv6, or of a name', async () => {
    for (const host of ['::1', 'localhost']) {
      const node = await start(`host-${host.length}`, '--api', '0', '--api-host', host)
      const home = join(folder, `${runtime}-host-${host.length}`)
      const command = [join(ROOT, 'bin/petrel.js'), '--repo', home, 'chain', 'head']
      const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^bafy/)
      const [, port] = /:(\d+)\/rpc\/v0/.exec(node.output()) ?? []
      const url = `http://${host === '::1' ? '[::1]' : host}:${port}/rpc/v0`
      expect(node.output()).toContain(`JSON-RPC on ${url} `)
      expect(readFileSync(join(home, 'api'), 'utf8')).toBe(
        `${host === '::1' ? '/ip6/::1' : '/dns/localhost'}/tcp/${port}/http`,
      )
    }
  })
})
