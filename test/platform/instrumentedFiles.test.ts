import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InstrumentedFiles } from '../../platform/server/instrumentedFiles.ts'

const KEY = 'bafk2bzacea-fvm4-1'
const MODULE = Uint8Array.from({ length: 5000 }, (_, i) => i % 251)

let root: string
let folder: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'petrel-modules-'))
  folder = join(root, 'instrumented')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('InstrumentedFiles', () => {
  it('gives back what was put, to another instance too', () => {
    expect(new InstrumentedFiles(folder).get(KEY)).toBeUndefined()
    new InstrumentedFiles(folder).put(KEY, MODULE)
    expect(new Uint8Array(new InstrumentedFiles(folder).get(KEY) as Uint8Array)).toEqual(MODULE)
    expect(new InstrumentedFiles(folder).get('another')).toBeUndefined()
    // No temporary file stays behind.
    expect(readdirSync(folder)).toEqual([`${KEY}.wasm`])
  })

  it('takes a damaged or shortened file for absent', () => {
    const files = new InstrumentedFiles(folder)
    files.put(KEY, MODULE)
    const path = join(folder, `${KEY}.wasm`)
    const whole = readFileSync(path)
    for (const damaged of [whole.subarray(0, 100), whole.subarray(0, 32), whole.subarray(0, 10), Buffer.alloc(0)]) {
      writeFileSync(path, damaged)
      expect(files.get(KEY)).toBeUndefined()
    }
    for (const at of [0, 31, 32, whole.length - 1]) {
      const flipped = Buffer.from(whole)
      flipped[at] = (flipped[at] as number) ^ 1
      writeFileSync(path, flipped)
      expect(files.get(KEY)).toBeUndefined()
    }
    files.put(KEY, MODULE)
    expect(files.get(KEY)?.length).toBe(MODULE.length)
  })

  it('does without a folder that it cannot write to', () => {
    writeFileSync(join(root, 'file'), '')
    const files = new InstrumentedFiles(join(root, 'file', 'below'))
    files.put(KEY, MODULE)
    expect(files.get(KEY)).toBeUndefined()
  })

  it('never leaves its folder', () => {
    new InstrumentedFiles(folder).put('../outside', MODULE)
    expect(readdirSync(root)).toEqual([])
  })

  it('keeps a bounded number of files', () => {
    const files = new InstrumentedFiles(folder)
    for (let i = 0; i < 520; i++) files.put(`key${i}`, Uint8Array.of(i & 0xff))
    expect(readdirSync(folder).length).toBe(512)
    expect(files.get('key519')).toBeDefined()
  })
})
