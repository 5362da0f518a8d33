/** The monitor's files as a node serves them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isThisMachine, monitorFiles } from '../../../platform/server/monitorFiles.ts'
import { httpRequest, stubHandler } from '../../rpc/stubTable.ts'

let home = ''
let folder = ''

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'petrel-home-'))
  folder = join(home, 'page')
  mkdirSync(join(folder, 'chunks'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'chunks/a.wasm'), new Uint8Array([0, 97, 115, 109]))
  writeFileSync(join(home, 'token'), 'secret')
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('files of the monitor', () => {
  const status = (path: string): number | undefined => monitorFiles(home, folder)(path)?.status

  it('has the page, its parts with their types, and nothing else of the disk', () => {
    const files = monitorFiles(home, folder)
    const page = files('/monitor/')
    expect(new TextDecoder().decode(page?.pieces?.[0])).toBe('<!doctype html>')
    expect(page?.headers['Content-Type']).toBe('text/html; charset=utf-8')
    expect(page?.headers['Content-Security-Policy']).toContain("frame-ancestors 'none'")
    expect(files('/monitor')).toMatchObject({ status: 308, headers: { Location: '/monitor/' } })
    expect(files('/monitor/chunks/a.wasm')).toMatchObject({ headers: { 'Content-Type': 'application/wasm' } })
    for (const path of [
      '/',
      '/monitors',
      '/monitor/chunks',
      '/monitor/../token',
      '/monitor//token',
      '/monitor/token',
    ]) {
      expect(status(path), path).toBeUndefined()
    }
  })

  it('has what joins a local chain, where the home has it', () => {
    expect(status('/monitor/genesis.car')).toBeUndefined()
    writeFileSync(join(home, 'genesis.car'), new Uint8Array([1]))
    expect(status('/monitor/genesis.car')).toBe(200)
  })

  it('is reached by GET alone, beside the API', async () => {
    const handler = stubHandler({ files: monitorFiles(home, folder) })
    const ask = async (verb: string, url: string): Promise<number> =>
      (await handler.handle(httpRequest(verb, url, ''))).status
    expect(await ask('GET', '/monitor/?x=1')).toBe(200)
    expect(await ask('POST', '/monitor/')).toBe(404)
    expect(await ask('GET', '/elsewhere')).toBe(404)
  })

  it('knows addresses that only this machine reaches', () => {
    for (const host of ['127.0.0.1', '127.8.0.1', '::1', 'localhost']) expect(isThisMachine(host), host).toBe(true)
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '192.168.1.4', '127.example.org', '2001:db8::1']) {
      expect(isThisMachine(host), host).toBe(false)
    }
  })
})
