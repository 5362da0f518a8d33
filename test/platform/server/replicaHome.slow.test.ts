/** A replica's home: a cache that deletes blocks, and no chain. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../support/shared.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-replica-home-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('replica', () => {
  const petrel = (home: string, ...args: string[]): { status: number | null; stderr: string } => {
    const command = [join(ROOT, 'bin/petrel.js'), '--repo', home, ...args]
    const { status, stderr } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' })
    return { status, stderr }
  }
  // Nobody listens there.
  const index = ['--index', 'postgres://u@127.0.0.1:9/x', '--blocks', 'http://127.0.0.1:9']
  const replica = (home: string): ReturnType<typeof petrel> =>
    petrel(home, 'replica', '--network', 'calibnet', '--api', '0', ...index)

  it.each([
    ['config.json', '{ "network": "calibnet", "validate": "execute" }'],
    ['network.json', '{}'],
  ])('leaves a home alone that holds a chain, by its %s', (name, text) => {
    const home = mkdtempSync(join(folder, 'chain-'))
    writeFileSync(join(home, name), text)
    const { status, stderr } = replica(home)
    expect(stderr).toContain(`Cannot run a replica on ${home}: it holds a chain`)
    expect(status).toBe(1)
    expect(existsSync(join(home, 'chain'))).toBe(false)
  })

  it('has a home that no other node takes for a chain', () => {
    const home = mkdtempSync(join(folder, 'cache-'))
    writeFileSync(join(home, 'config.json'), '{ "network": "calibnet", "kind": "replica" }')
    for (const args of [['daemon'], ['daemon', '--network', 'calibnet'], ['devnet']]) {
      const { status, stderr } = petrel(home, ...args, '--api', '0', '--no-net')
      expect(stderr).toContain(`Cannot run a node on ${home}: it holds the cache of a replica`)
      expect(status).toBe(1)
    }
  })

  it('says that its index is not there, deletes nothing, and leaves no lock', () => {
    const home = join(folder, 'lost')
    mkdirSync(home, { mode: 0o700 })
    const { status, stderr } = replica(home)
    expect(stderr).toMatch(/^ERROR: the connection to postgres:\/\/u@127\.0\.0\.1:9\/x /)
    expect(status).toBe(1)
    expect(existsSync(join(home, 'petrel.lock'))).toBe(false)
    expect(existsSync(join(home, 'config.json'))).toBe(false)
    // It came as far as that.
    expect(existsSync(join(home, 'chain', 'data.mdb'))).toBe(true)
  })
})
