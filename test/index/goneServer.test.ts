/** A database whose machine goes away in the midst of a statement: nothing says so. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Connection } from '../../platform/server/index/connection.ts'
import { isReachable } from '../../platform/server/index/isReachable.ts'
import type { Timers } from '../../src/base/ports.ts'
import { IndexError } from '../../src/index/errors.ts'
import { timers } from './writers.ts'

/** `AuthenticationOk` and `ReadyForQuery`. @see PostgreSQL's documentation, Message Formats */
const WELCOME = Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49)
/** `CommandComplete` of a `SET`, and `ReadyForQuery`. */
const SET_DONE = Uint8Array.of(0x43, 0, 0, 0, 8, 0x53, 0x45, 0x54, 0, 0x5a, 0, 0, 0, 5, 0x49)
/** How much faster the clock goes. */
const FASTER = 100

const faster: Timers = { setTimeout: (run, ms) => timers.setTimeout(run, ms / FASTER) }

let server: Server
let url: string
const sockets: Socket[] = []

/** Lets in whoever comes, and answers nothing but `SET`. */
beforeEach(async () => {
  server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(WELCOME)
      socket.on('data', (bytes: Buffer) => void (bytes.includes('set statement_timeout') && socket.write(SET_DONE)))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `postgres://petrel@127.0.0.1:${(server.address() as AddressInfo).port}/chain`
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
})

/** How long a statement waits for its answer, seconds of its own clock. @param gone - from which look on nobody answers */
async function waits(
  gone: number,
): Promise<{ readonly seconds: number; readonly looks: number; readonly text: string }> {
  let looks = 0
  let ms = 0
  const counting: Timers = {
    setTimeout: (run, after) =>
      faster.setTimeout(() => {
        if (after <= 5_000) ms += after
        run()
      }, after),
  }
  const on = new Connection(url, 'test', counting, async () => ++looks < gone)
  const error = await on.query('select 1').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(IndexError)
  expect(on.lost.aborted).toBe(true)
  await on.close()
  return { seconds: ms / 1000, looks, text: (error as IndexError).message }
}

it('is given up with the first look that finds nobody', async () => {
  const text = "the database's machine does not answer any more"
  expect(await waits(1)).toEqual({ seconds: 5, looks: 1, text })
  expect(await waits(3)).toEqual({ seconds: 15, looks: 3, text })
})

it('a machine that is there may take its time: the statement has its own', async () => {
  expect((await waits(Number.POSITIVE_INFINITY)).text).toBe('the database does not answer any more')
})

it('what makes an index is waited for while its machine is there, longer than any other statement, until it is stopped', async () => {
  const stopping = new AbortController()
  let looks = 0
  // 150 seconds; an answer is waited for 130.
  const on = new Connection(url, 'test', faster, async () => {
    if (++looks === 30) stopping.abort()
    return true
  })
  await expect(on.patient('create index', stopping.signal)).rejects.toMatchObject({
    ...{ code: 'CONNECTION_LOST', message: 'stopped' },
  })
  expect(looks).toBe(30)
  expect(on.lost.aborted).toBe(true)
  await on.close()
})

it('who listens is there, who refuses is, too; who says nothing is not', async () => {
  expect(await isReachable(url, 5_000, timers)).toBe(true)
  for (const socket of sockets) socket.destroy()
  server.close()
  await once(server, 'close')
  expect(await isReachable(url, 5_000, timers)).toBe(true)
  const atOnce: Timers = {
    setTimeout: (run) => {
      queueMicrotask(run)
      return () => undefined
    },
  }
  expect(await isReachable(url, 5_000, atOnce)).toBe(false)
})
