/** `transfers --follow` before a node that fails now and then: what it outlives, and what ends it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { cid, commandLine } from './commandLine.ts'
import { petrel, type Ran, Refusal, type RunOptions } from './fakeNode.ts'

const { run, answer, calls } = commandLine()
const folder = mkdtempSync(join(tmpdir(), 'petrel-transfers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const step = (height: number): Json => ({ Reverted: [], Applied: [], Position: [cid(`bafy${height}`)] })

/** Gives one answer after the other, the last one for good. */
function answerInTurn(...answers: (Json | Error)[]): void {
  answer({
    ChainGetTransfersSince: () => {
      const next = (answers.length > 1 ? answers.shift() : answers[0]) as Json | Error
      if (next instanceof Error) throw next
      return next
    },
  })
}

/** Interrupts a run when it waits for the so-many-th time. */
function interruptedAt(waits: number): RunOptions {
  const interrupt = new AbortController()
  let left = waits
  return {
    signal: interrupt.signal,
    onSleep: () => {
      if (--left === 0) interrupt.abort()
    },
  }
}

const BUSY = new Refusal('too many calls at once; try again later', -32_005)
const DEAD = new Refusal("Cannot execute: the machine's thread is gone: exit code 1")

test('a node that is busy or has lost its machine is asked again, and nothing is told twice', async () => {
  const positionFile = join(folder, 'position')
  answerInTurn(step(7), BUSY, DEAD, step(8))
  const args = ['transfers', '--follow', '--json', '--position-file', positionFile]
  const ran = await run(args, interruptedAt(3))
  expect(ran.code).toBe(0)
  expect(
    ran.out
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one) as Json),
  ).toEqual([step(7), step(8)])
  expect(ran.err).toBe(
    `no answer (${BUSY.message}): asked again in 1 s\nno answer (${DEAD.message}): asked again in 2 s\n`,
  )
  expect(calls().map(({ params }) => params[0])).toEqual([[], ...Array(3).fill([cid('bafy7')]), [cid('bafy8')]])
  expect(readFileSync(positionFile, 'utf8')).toBe('bafy8\n')
})

test('the position stays before a step that standard output did not take', async () => {
  const positionFile = join(folder, 'untaken')
  const args = ['transfers', '--follow', '--json', '--position-file', positionFile]
  answerInTurn(step(7), step(8))
  let left = 1
  const written = (): Promise<void> =>
    left-- > 0 ? Promise.resolve() : Promise.reject(Object.assign(new Error('no room'), { code: 'ENOSPC' }))
  const ran = await run(args, { ...interruptedAt(3), written })
  expect(ran.code).toBe(1)
  expect(ran.err).toBe('ERROR: standard output takes no more (ENOSPC): the position stays before this step\n')
  expect(readFileSync(positionFile, 'utf8')).toBe('bafy7\n')
  const never = join(folder, 'never')
  answerInTurn(step(7))
  const first = await run(['transfers', '--position-file', never], { written: () => Promise.reject(new Error('gone')) })
  expect([first.code, existsSync(never)]).toEqual([1, false])
})

test('--since is where a run without a position begins: one that is kept goes before it', async () => {
  const positionFile = join(folder, 'kept')
  const args = ['transfers', '--since', 'bafy3', '--position-file', positionFile]
  const asked = async (): Promise<Json[]> => {
    answerInTurn(step(7))
    const before = calls().length
    expect((await run(args)).code).toBe(0)
    return calls()
      .slice(before)
      .map(({ params }) => params[0] as Json)
  }
  expect(await asked()).toEqual([[cid('bafy3')], [cid('bafy7')]])
  expect(readFileSync(positionFile, 'utf8')).toBe('bafy7\n')
  // The same command, started again.
  expect(await asked()).toEqual([[cid('bafy7')]])
  writeFileSync(positionFile, '')
  expect(await asked()).toEqual([[cid('bafy3')], [cid('bafy7')]])
})

test('a node that stays away is asked less and less often, until the user interrupts', async () => {
  const ran = await petrel(['transfers', '--follow', '--since', 'bafy7'], {
    env: { FULLNODE_API_INFO: 'http://127.0.0.1:1' },
    ...interruptedAt(7),
  })
  expect([ran.code, ran.out]).toEqual([0, 'position: bafy7\n'])
  expect(ran.err.match(/\d+ s$/gm)).toEqual(['1 s', '2 s', '4 s', '8 s', '16 s', '30 s', '30 s'])
})

/** Follows from one position at a server that is no table. */
async function followed(listener: RequestListener, options: RunOptions): Promise<Ran> {
  const server = createServer(listener)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const env = { FULLNODE_API_INFO: `http://127.0.0.1:${port}` }
  const ran = await petrel(['transfers', '--follow', '--since', 'bafy7'], { env, ...options })
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
  return ran
}

test('an interrupt during a question ends it with the position', async () => {
  const interrupt = new AbortController()
  const ran = await followed(() => interrupt.abort(), { signal: interrupt.signal })
  expect(ran).toEqual({ code: 0, out: 'position: bafy7\n', err: '' })
})

test('a token that is not accepted ends it', async () => {
  const ran = await followed((_request, response) => void response.writeHead(401).end(), interruptedAt(3))
  expect(ran).toEqual({ code: 1, out: '', err: 'ERROR: the node does not accept the token\n' })
})

test.each([
  ['a confidence', new Refusal('Cannot follow transfers: confidence 0, expected at least 1')],
  ['a position that is no CID', new Refusal("unmarshaling params for 'Filecoin.ChainGetTransfersSince'", -32_700)],
  ['a position that it does not know', new Refusal('ipld: could not find bafy7')],
  ['a position that is no tipset', new Refusal('cannot create tipset with mismatching heights')],
  [
    'a token without the permission',
    new Refusal("missing permission to invoke 'ChainGetTransfersSince' (need 'read')"),
  ],
])('what the node refuses for good ends it: %s', async (_what, refusal) => {
  answerInTurn(refusal)
  const ran = await run(['transfers', '--follow', '--since', 'bafy7'], interruptedAt(3))
  expect(ran).toEqual({ code: 1, out: '', err: `ERROR: ${refusal.message}\n` })
  expect(calls()).toHaveLength(1)
})

test('without --follow the first failure is told and ends it', async () => {
  answerInTurn(BUSY)
  expect(await run(['transfers'])).toEqual({ code: 1, out: '', err: `ERROR: ${BUSY.message}\n` })
  expect(calls()).toHaveLength(1)
})
