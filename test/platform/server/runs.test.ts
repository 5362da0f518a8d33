/** A run in a home, from its start to its end: signals that come early, a node that cannot go on, what is closed in the end. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { Home } from '../../../platform/server/home.ts'
import { type HostRuntime, type NodeRun, serve } from '../../../platform/server/nodeRunner.ts'
import type { ServeOptions } from '../../../platform/server/options.ts'
import { hearingHangups, type ProgramIo } from '../../../platform/server/programIo.ts'
import { systemRandom } from '../../../platform/server/random.ts'
import { CostQueues } from '../../../src/rpc/cost.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import { HttpHandler } from '../../../src/rpc/http.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { silentLog } from '../../support/recordedView.ts'
import { ROOT } from '../../support/shared.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-runs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fakeIo(more: Partial<ProgramIo> = {}): ProgramIo {
  const signal = new AbortController().signal
  return { out: () => undefined, err: () => undefined, env: {}, signal, ...more } as unknown as ProgramIo
}

describe('SIGHUP', () => {
  it('that comes before anybody listens is told to whoever does, once', () => {
    let hangup = (): void => undefined
    const io = hearingHangups(
      fakeIo({
        onHangup: (listener) => {
          hangup = listener
        },
      }),
    )
    hangup()
    hangup()
    let heard = 0
    io.onHangup?.(() => heard++)
    expect(heard).toBe(1)
    hangup()
    expect(heard).toBe(2)
  })
})

describe('a served node', () => {
  /** Of nothing but a server. */
  async function served(end: (shutdown: (failure?: unknown) => void) => void): Promise<string[]> {
    const closed: string[] = []
    const home = new Home(mkdtempSync(join(folder, 'served-')))
    const ports = { clock: systemClock, timers: systemTimers, random: systemRandom, log: silentLog }
    const queues = new CostQueues(ports)
    const engine = new RpcEngine({ table: createMethodTable([]), json: { addressPrefix: 't' }, log: silentLog, queues })
    const handler = new HttpHandler(engine, { verifier: { verify: () => undefined } })
    const stop = (): Promise<void> => Promise.resolve(void closed.push('node'))
    const node = { handler, engine, adminToken: '', stop }
    const options = { host: '127.0.0.1', port: 0, monitor: false, trustedProxies: [] } as unknown as ServeOptions
    const runtime = { ports, version: '' } as unknown as HostRuntime
    const run: NodeRun = { options, io: fakeIo(), runtime, home, counts: undefined }
    const close = (): Promise<void> => Promise.resolve(void closed.push('host'))
    await serve(run, (shutdown) => {
      end(shutdown)
      return Promise.resolve({ node, host: undefined, close } as never)
    }).finally(() => expect(closed).toEqual(['node', 'host']))
    return closed
  }

  it('ends when it is told to', async () => {
    expect(await served((shutdown) => setTimeout(shutdown, 0))).toHaveLength(2)
  })

  it.each([
    ['at once', (run: () => void) => run()],
    ['later', (run: () => void) => void setTimeout(run, 50)],
  ])('that cannot go on, which it finds out %s, ends with the reason', async (_, when) => {
    const failure = new Error('the snapshot is of another network')
    await expect(served((shutdown) => when(() => shutdown(failure)))).rejects.toBe(failure)
  })
})

describe('a home', () => {
  it('is given back when all is closed, though only a timer is left that keeps no process alive', () => {
    const path = join(folder, 'closing')
    const place = (name: string): string => JSON.stringify(pathToFileURL(join(ROOT, name)).href)
    const script = `
      import { inHome } from ${place('platform/server/nodeRunner.ts')}
      import { systemTimers } from ${place('platform/server/clock.ts')}
      import { sleep } from ${place('src/base/waiting.ts')}
      const options = { repo: ${JSON.stringify(path)}, host: '127.0.0.1', port: 0, configText: '', log: {} }
      const io = { out: (text) => void process.stdout.write(text), signal: new AbortController().signal }
      await inHome(options, {}, io, (_home, closers) => {
        closers.add(() => sleep(systemTimers, 20))
        throw new Error('the index is not there')
      }).catch((error) => console.log(error.message))
    `
    const args = ['--conditions=petrel-source', '--input-type=module', '-e', script]
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
    expect([status, stdout]).toEqual([0, 'the index is not there\n'])
    expect(existsSync(join(path, 'petrel.lock'))).toBe(false)
  })
})
