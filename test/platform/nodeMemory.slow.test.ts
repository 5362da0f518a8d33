/** What a node takes of its machine's memory, and with what it begins. Linux alone says so. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-node-memory-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CHAIN = ['devnet', '--api', '0', '--no-net', '--actors', 'native', '--manual']
const EPOCHS = 60
/** Own pages of a local chain that has just begun, MB: 140. With what glibc and V8 do by themselves: 205. */
const MOST_OWN_MB = 175

function ownMb(pid: number): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function environment(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
}

describe.skipIf(process.platform !== 'linux')("a node's memory", { timeout: 120_000 }, () => {
  it('is little after the start', async () => {
    const node = await startNode('node', join(folder, 'little'), CHAIN)
    try {
      expect(environment(node.pid)).toContain('MALLOC_ARENA_MAX=2')
      await new RpcClient(node.url, node.token).call('DevnetMine', EPOCHS, null)
      expect(ownMb(node.pid)).toBeLessThan(MOST_OWN_MB)
    } finally {
      expect(await node.stop()).toBe(0)
    }
  })

  it('is what the operator said, where he did', async () => {
    const node = await startNode('node', join(folder, 'own'), CHAIN, 60_000, { MALLOC_ARENA_MAX: '7' })
    try {
      const said = environment(node.pid).filter((one) => one.startsWith('MALLOC_'))
      expect(said).toEqual(['MALLOC_ARENA_MAX=7'])
    } finally {
      await node.stop()
    }
  })
})
