/** What `petrel doctor` finds on real homes, beside a node and without one, and what it says is to be done. */
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemRandom } from '../../../platform/server/random.ts'
import { fromBase32 } from '../../../src/base/base32.ts'
import { fromUtf8 } from '../../../src/base/bytes.ts'
import { Sealer } from '../../../src/wallet/sealing.ts'
import { type NodeProcess, startLocalChain } from '../../runtimes/nodeProcess.ts'
import { ROOT } from '../../support/shared.ts'

const PETREL = join(ROOT, 'bin/petrel.js')
const home = join(mkdtempSync(join(tmpdir(), 'petrel-doctor-')), 'home')
afterAll(() => rmSync(join(home, '..'), { recursive: true, force: true }))

interface Check {
  Name: string
  State: string
  Found: string
  Do: string
}

/** Runs it with `--json`. @param limit - descriptors that it may have */
function doctor(
  args: readonly string[] = [],
  env: Record<string, string> = {},
  limit = 8192,
): Promise<{ code: number; checks: Check[] }> {
  const command = `ulimit -n ${limit}; exec "$0" "$@"`
  const all = ['-c', command, process.execPath, PETREL, '--repo', home, '--json', 'doctor', ...args]
  return new Promise((resolve, reject) => {
    execFile('bash', all, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      if (stdout === '') return reject(new Error(stderr))
      resolve({ code: Number(error?.code ?? 0), checks: (JSON.parse(stdout) as { Checks: Check[] }).Checks })
    })
  })
}

const entryName = (file: string): string => fromUtf8(fromBase32(file.toLowerCase()))
const named = (checks: readonly Check[], name: string): Check[] => checks.filter((one) => one.Name === name)

/** A time server whose clock is `aheadMs` before ours. @see RFC 5905 section 7.3 */
async function timeServer(aheadMs: number): Promise<{ address: string; close(): void }> {
  const socket = createSocket('udp4')
  socket.on('message', (_, from) => {
    const answer = Buffer.alloc(48)
    answer[0] = 0x24
    // A secondary server. @see RFC 5905 figure 11
    answer[1] = 2
    const ms = Date.now() + aheadMs
    for (const at of [32, 40]) {
      answer.writeUInt32BE(Math.floor(ms / 1000) + 2_208_988_800, at)
      answer.writeUInt32BE(Math.floor(((ms % 1000) / 1000) * 2 ** 32), at + 4)
    }
    socket.send(answer, from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() }
}

describe('petrel doctor', { timeout: 120_000 }, () => {
  let node: NodeProcess
  let whileItRan: { code: number; checks: Check[] }
  beforeAll(async () => {
    node = await startLocalChain(home)
    whileItRan = await doctor()
    await node.stop()
  }, 120_000)

  it('asks the node that runs', () => {
    const { code, checks } = whileItRan
    expect(code).toBe(0)
    expect(named(checks, 'port')[0]?.Found).toBe(`the node answers at ${node.url}`)
    expect(named(checks, 'file descriptors')[0]?.Found).toMatch(/^\d+ at most, \d+ are open$/)
    expect(named(checks, 'clock')[0]).toMatchObject({ State: 'unknown', Do: expect.stringContaining('--ntp') })
    for (const name of ['permissions', 'disk', 'head', 'snapshot', 'bundles', 'store'])
      expect(checks.map(({ Name }) => Name)).toContain(name)
  })

  it('says of each fault what to do, and fails', async () => {
    const damaged = join(home, 'actors/bafy2bzaceanything.car')
    const config = join(home, 'config.json')
    chmodSync(join(home, 'token'), 0o644)
    writeFileSync(damaged, 'no archive')
    writeFileSync(config, JSON.stringify({ snapshot: '/nowhere/chain.car' }))
    const { code, checks } = await doctor([], {}, 256)
    expect(code).toBe(1)
    expect(named(checks, 'permissions')).toMatchObject([{ State: 'fault', Do: `chmod go= ${join(home, 'token')}` }])
    expect(named(checks, 'bundles')[0]).toMatchObject({ State: 'fault', Do: `rm ${damaged}; petrel actors fetch` })
    expect(named(checks, 'snapshot')[0]).toMatchObject({
      State: 'fault',
      Do: expect.stringContaining('/nowhere/chain.car'),
    })
    expect(named(checks, 'file descriptors')[0]).toMatchObject({ State: 'warning', Found: '256 at most' })
    chmodSync(join(home, 'token'), 0o600)
    rmSync(damaged)
    rmSync(config)
    // Any port: somebody's node may have the usual one.
    const mended = await doctor([], { PETREL_API: '0' })
    expect(mended.checks.filter(({ State }) => State === 'fault')).toEqual([])
  })

  it('reads each key of the wallet, and names one that is not the one of its address, or cannot be opened', async () => {
    const keystore = join(home, 'keystore')
    const { Found } = named((await doctor()).checks, 'keys')[0] as Check
    expect(Found).toMatch(/^[1-9]\d* of the wallet are whole$/)
    const wallets = readdirSync(keystore).filter((file) => entryName(file).startsWith('wallet-t1'))
    const [first = '', second = ''] = wallets.map((file) => join(keystore, file))
    const [sound, other] = [readFileSync(first), readFileSync(second)]
    writeFileSync(first, other)
    const { code, checks } = await doctor()
    expect(code).toBe(1)
    expect(named(checks, 'keys')).toMatchObject([
      {
        State: 'fault',
        Found: expect.stringContaining(entryName(wallets[0] as string)),
        Do: expect.stringContaining('backup'),
      },
    ])
    const sealer = new Sealer('a passphrase', systemRandom, { n: 2, r: 1, p: 1 })
    writeFileSync(first, sealer.seal(entryName(wallets[0] as string), sound))
    expect(named((await doctor()).checks, 'keys')).toMatchObject([
      { State: 'unknown', Found: expect.stringMatching(/^\d+ of the wallet are whole, 1 are encrypted$/) },
    ])
    const opened = await doctor([], { PETREL_PASSPHRASE: 'a passphrase' })
    expect(named(opened.checks, 'keys')).toMatchObject([{ State: 'ok', Found }])
    expect(named((await doctor([], { PETREL_PASSPHRASE: 'another' })).checks, 'keys')).toMatchObject([
      { State: 'fault' },
    ])
    writeFileSync(first, sound)
  })

  it('looks whether the next start gets its port and its options', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const taken = await doctor([], { PETREL_API: String(port) })
    expect(named(taken.checks, 'port')[0]).toMatchObject({ State: 'fault', Do: expect.stringContaining('daemon.api') })
    server.close()
    const settings = readFileSync(join(home, 'config.toml'), 'utf8')
    writeFileSync(join(home, 'config.toml'), '[daemon]\napy = 1\n')
    const wrong = await doctor()
    expect(named(wrong.checks, 'options')[0]).toMatchObject({
      State: 'fault',
      Found: expect.stringContaining('is it api?'),
    })
    writeFileSync(join(home, 'config.toml'), settings)
  })

  it.each([
    [90_000, 'fault', /^(89|90|91)\.\d\d s behind /],
    [0, 'ok', /^0\.\d\d s /],
  ])('compares the clock with one that is %i ms ahead', async (aheadMs, state, found) => {
    const server = await timeServer(aheadMs)
    const { checks } = await doctor(['--ntp', server.address])
    server.close()
    const [clock] = named(checks, 'clock')
    expect(clock?.State).toBe(state)
    expect(clock?.Found).toMatch(found)
  })
})
