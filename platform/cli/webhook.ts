/**
 * Tells another program by HTTP POST: signed, tried again, and kept in a file when nobody takes it. A redirect is not taking it.
 *
 *     Petrel-Timestamp: <seconds>
 *     Petrel-Signature: sha256=<hex of HMAC-SHA256 over "<seconds>.<body>">
 */
import { createHmac } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { errorMessage } from '../../src/base/errors.ts'

/** Where events go. */
export interface Webhook {
  readonly url: string
  readonly secret: string
  /** Gets what nobody took, one object a line. */
  readonly deadLetters: string
  /** Waits before each further attempt, ms. Default: {@link RETRY_MS}. */
  readonly retryMs?: readonly number[]
  readonly sleep: (ms: number) => Promise<void>
  readonly now: () => number
}

/** Half a minute in all: longer outages are for the dead letters, so that later deposits are not held up. */
export const RETRY_MS: readonly number[] = [1000, 2000, 4000, 8000, 16_000]
const ANSWER_MS = 10_000

async function attempt({ url, secret, now }: Webhook, body: string): Promise<string | undefined> {
  const seconds = Math.floor(now() / 1000)
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  const headers = {
    'Content-Type': 'application/json',
    'Petrel-Timestamp': String(seconds),
    'Petrel-Signature': `sha256=${signature}`,
  }
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    // Followed, a redirect would make it a GET without a body, whose 200 says nothing of the event.
    const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    await answer.body?.cancel()
    if (answer.ok) return undefined
    const elsewhere = answer.headers.get('location')
    return `status ${answer.status}${elsewhere === null ? '' : `, which leads to ${elsewhere}`}`
  } catch (error) {
    return errorMessage(error)
  }
}

/**
 * Delivers one event, at least once.
 * @returns undefined when it was taken; else why not: it is in the dead letters, on disk
 * @throws what the disk says, where it is in neither
 */
export async function deliver(webhook: Webhook, body: string): Promise<string | undefined> {
  let problem = await attempt(webhook, body)
  for (const ms of webhook.retryMs ?? RETRY_MS) {
    if (problem === undefined) return undefined
    await webhook.sleep(ms)
    problem = await attempt(webhook, body)
  }
  if (problem !== undefined) keep(webhook, body, problem)
  return problem
}

function keep({ deadLetters, now }: Webhook, body: string, problem: string): void {
  const file = openSync(deadLetters, 'a', 0o600)
  const line = `{"time":${JSON.stringify(new Date(now()).toISOString())},"problem":${JSON.stringify(problem)},"event":${body}}\n`
  const { size } = fstatSync(file)
  const bytes = Buffer.from(line)
  let written = 0
  try {
    // A disk that is nearly full takes a part, and says no to the next one.
    while (written < bytes.length) written += writeSync(file, bytes.subarray(written))
    fsyncSync(file)
  } catch (error) {
    // Half a line would spoil the next one; unless somebody else has put theirs behind it.
    if (written > 0 && fstatSync(file).size === size + written) ftruncateSync(file, size)
    throw error
  } finally {
    closeSync(file)
  }
}
