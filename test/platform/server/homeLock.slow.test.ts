/** Many processes want a lock whose holder is gone: one has it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { Home } from '../../../platform/server/home.ts'
import { ELSEWHERE, lockHolder, releaseLock, takeLock } from '../../../platform/server/homeLock.ts'
import { findNetwork } from '../../../platform/server/networkFiles.ts'
import { until } from '../../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-lock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const LOCK = fileURLToPath(new URL('../../../platform/server/homeLock.ts', import.meta.url))
const ROUNDS = 20
const RACERS = 4
/** No process has this number: the kernel's largest is 2^22. */
const DEAD = '4194305'

/** Takes one lock after the other when told to, and says of each whether it has it. It lives until all have said so. */
const RACER = `
import { takeLock } from ${JSON.stringify(LOCK)}
process.stdin.on('data', (chunk) => {
  for (const path of chunk.toString().split('\\n').filter(Boolean)) {
    process.stdout.write((takeLock(path) === undefined ? 'mine' : 'taken') + '\\n')
  }
})
`

describe('the lock of a home', () => {
  it('of a dead holder is taken by one, however many want it', { timeout: 180_000 }, async () => {
    const racers = Array.from({ length: RACERS }, () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', RACER], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      let said = ''
      let wake: () => void = () => undefined
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        wake()
      })
      const answer = async (): Promise<string> => {
        while (!said.includes('\n')) await new Promise<void>((resolve) => (wake = resolve))
        const [first = '', ...rest] = said.split('\n')
        said = rest.join('\n')
        return first
      }
      return { child, answer }
    })
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const path = join(folder, `lock-${round}`)
        // Every third round the lock is free.
        if (round % 3 !== 0) writeFileSync(path, `${DEAD}${round}\n`)
        for (const { child } of racers) child.stdin.write(`${path}\n`)
        const answers = await Promise.all(racers.map(({ answer }) => answer()))
        expect(
          answers.filter((one) => one === 'mine'),
          `round ${round}: ${answers.join()}`,
        ).toHaveLength(1)
      }
    } finally {
      for (const { child } of racers) child.kill()
    }
    expect(readdirSync(folder).filter((name) => name.includes('tmp-'))).toEqual([])
  })
})

/** Takes the lock, says so, and keeps it. */
const HOLDER = `
import { takeLock } from ${JSON.stringify(LOCK)}
process.stdout.write(takeLock(process.argv[1]) === undefined ? 'mine' : 'taken')
setInterval(() => undefined, 1000)
`

describe('a lock whose holder is not to be seen', () => {
  it.each([
    ['by no number, as from another container', `${DEAD}\n`],
    ['under the number of this process, which both have in their containers', `${process.pid}\n`],
  ])('%s: it is held, until the holder is killed', async (_, named) => {
    const path = join(folder, `held-${named.trim()}`)
    const child = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise((resolve) => child.on('exit', resolve))
    try {
      const said = await new Promise((resolve) =>
        child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
      )
      expect(said).toBe('mine')
      writeFileSync(path, named)
      expect(lockHolder(path)).toBe(ELSEWHERE)
      expect(takeLock(path)).toBe(ELSEWHERE)
      expect(readFileSync(path, 'utf8')).toBe(named)
    } finally {
      child.kill('SIGKILL')
      await exited
    }
    expect(lockHolder(path)).toBeUndefined()
    expect(takeLock(path)).toBeUndefined()
    expect(lockHolder(path)).toBeUndefined()
    releaseLock(path)
    expect(existsSync(path)).toBe(false)
  })

  it.runIf(process.platform === 'linux')('of a killed process that its parent has not asked for is free', async () => {
    const path = join(folder, 'zombie.lock')
    // The shell becomes a program that waits for nobody; only then its child may end: the shell itself would ask for it.
    const command = 'exec 3<&0; cat <&3 >/dev/null & echo $!; exec sleep 60'
    const parent = spawn('sh', ['-c', command], { stdio: ['pipe', 'pipe', 'ignore'] })
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer]
      const pid = Number(line)
      const stat = (of: number | undefined): string => readFileSync(`/proc/${of}/stat`, 'latin1')
      await until(() => stat(parent.pid).includes('(sleep)'), 'the shell is another program')
      parent.stdin.end()
      await until(() => stat(pid).includes(') Z '), 'the process has ended')
      writeFileSync(path, String(pid))
      expect(lockHolder(path)).toBeUndefined()
      expect(takeLock(path)).toBeUndefined()
      releaseLock(path)
    } finally {
      parent.kill('SIGKILL')
    }
  })

  it('a lock that another has is not given back by who does not have it', () => {
    const path = join(folder, 'not-ours')
    writeFileSync(path, `${process.ppid}\n`)
    releaseLock(path)
    expect(lockHolder(path)).toBe(process.ppid)
  })
})

describe('a home', () => {
  it.skipIf(process.platform === 'win32')('that others may write to is refused, with what to do', () => {
    const path = join(folder, 'open')
    mkdirSync(path)
    chmodSync(path, 0o777)
    expect(() => new Home(path).acquire()).toThrow(`others may write to it (mode 0777); say: chmod 700 ${path}`)
    chmodSync(path, 0o750)
    writeFileSync(join(path, 'token.tmp-4711'), 'left by a kill')
    const home = new Home(path)
    home.acquire()
    expect(readdirSync(path)).not.toContain('token.tmp-4711')
    home.release()
  })

  it('names a network file that is damaged', () => {
    const path = join(folder, 'network.json')
    writeFileSync(path, '{"name":')
    expect(() => findNetwork(path)).toThrow(`Cannot read the network file ${path}: `)
  })
})
