/** The log's file where the disk takes nothing: whoever logs goes on. */
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openLog } from '../../../platform/server/logger.ts'
import { RotatingFile } from '../../../platform/server/rotatingFile.ts'

const { writeSync, openSync } = fs
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'petrel-log-'))
})
afterEach(() => {
  Object.assign(fs, { writeSync, openSync })
  syncBuiltinESMExports()
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

/** Replaces functions of the file system. */
function patch(functions: Partial<Record<'writeSync' | 'openSync', unknown>>): void {
  Object.assign(fs, functions)
  syncBuiltinESMExports()
}

function full(): never {
  throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
}

/** With room for so many bytes more. */
function fillDisk(left: number): void {
  patch({
    writeSync: (file: number, line: Uint8Array) => {
      if (left === 0) full()
      const written = writeSync(file, line.subarray(0, left))
      left -= written
      return written
    },
  })
}

const path = (): string => join(folder, 'petrel.log')
const read = (name = 'petrel.log'): string => readFileSync(join(folder, name), 'utf8')

describe('the file of the log', () => {
  it('a full disk is said once, on standard error, and the file goes on where there is room again', () => {
    const said: string[] = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
    const { logger, configure } = openLog()
    configure({ levels: 'info', format: 'text', toFile: true }, folder)
    logger.info('first')
    fillDisk(0)
    for (const message of ['second', 'third']) logger.warn(message)
    patch({ writeSync })
    logger.info('fourth')
    const messages = (lines: string): string[] =>
      lines
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(39))
    const missing = 'lines are missing in the log file reason="ENOSPC: no space left on device, write"'
    const again = 'the log file is written again'
    expect(messages(said.join(''))).toEqual(['first', 'second', missing, 'third', 'fourth', again])
    expect(messages(read())).toEqual(['first', 'fourth', again])
  })

  it('a line that the disk had no room for ends before the next one', () => {
    const file = new RotatingFile(path())
    fillDisk('first'.length)
    file.write('first line\n')
    expect(() => file.write('second line\n')).toThrow('ENOSPC')
    patch({ writeSync })
    file.write('third line\n')
    file.write('fourth line\n')
    expect(read()).toBe('first\nthird line\nfourth line\n')
  })

  it('older files stay while no new one can be made', () => {
    const file = new RotatingFile(path(), 1)
    for (let i = 0; i < 6; i++) file.write(`${i}\n`)
    patch({ openSync: full })
    for (let i = 0; i < 3; i++) expect(() => file.write('lost\n')).toThrow('ENOSPC')
    patch({ openSync })
    file.write('6\n')
    expect(
      readdirSync(folder)
        .sort()
        .map((name) => read(name)),
    ).toEqual(['6\n', '5\n', '4\n', '3\n', '2\n', '1\n'])
  })
})
