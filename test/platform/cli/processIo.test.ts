/** Whether what was said has been taken: a file whose disk is nearly full takes a part, a pipe's reader may be gone. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'petrel-output-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Says two lines of so many characters, and on the error stream what became of each; waits for a line of input before. */
function script(characters: number): string[] {
  const source = fileURLToPath(new URL('../../../platform/cli/processIo.ts', import.meta.url))
  const text = `
    import { processIo } from ${JSON.stringify(source)}
    const io = processIo(new AbortController().signal)
    await io.stdin()
    for (const letter of ['a', 'b']) {
      io.out(letter.repeat(${characters}) + '\\n')
      await io.written().then(() => io.err('taken '), (error) => io.err('lost ' + error.code + ' '))
    }`
  return ['--input-type=module', '-e', text]
}

/** Into a file that may have 2 KiB. */
function intoFile(
  name: string,
  characters: number,
): { readonly err: string; readonly code: number | null; readonly bytes: number } {
  const file = join(folder, name)
  const run = [
    'ulimit -f 4; file="$1"; shift; exec "$@" > "$file"',
    'sh',
    file,
    process.execPath,
    ...script(characters),
  ]
  const { stderr, status } = spawnSync('sh', ['-c', ...run], { encoding: 'utf8', timeout: 60_000, input: '' })
  return { err: stderr, code: status, bytes: statSync(file).size }
}

test('a file says of each line whether it has the whole of it', () => {
  expect(intoFile('room', 500)).toEqual({ err: 'taken taken ', code: 0, bytes: 1002 })
  const { err, code, bytes } = intoFile('full', 1500)
  expect(err.replace(/ERROR: .*\n/, '')).toBe('taken lost EFBIG ')
  expect(err).toContain('ERROR: cannot write to standard output: EFBIG')
  expect([code, bytes]).toEqual([1, 2048])
  expect(readFileSync(join(folder, 'full'), 'utf8')).toMatch(/^a{1500}\nb+$/)
})

test('a pipe says when its reader has gone', async () => {
  const child = spawn(process.execPath, script(10), { stdio: 'pipe' })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  child.stdout.destroy()
  child.stdin.end()
  const [code] = (await once(child, 'close')) as [number]
  expect([err.replace(/ERR_\w+/, 'EPIPE'), code]).toEqual(['lost EPIPE lost EPIPE ', 0])
})

test('a pipe that is read takes all', () => {
  const ran = spawnSync(process.execPath, script(100_000), { encoding: 'utf8', timeout: 60_000, input: '' })
  expect([ran.stderr, ran.status, ran.stdout.length]).toEqual(['taken taken ', 0, 200_002])
})
