/** Answers of `/health/…`: the status is for load balancers, the lines are for who looks why. */
import type { HttpResponse } from './httpMessage.ts'

/** One reason of a health answer. */
export interface HealthLine {
  readonly ok: boolean
  readonly text: string
}

const TEXT_HEADERS: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain; charset=utf-8' }

/** @param checks - none: nothing is known against the node @param assumed - what it takes for granted, as one line */
export function healthAnswer(checks: readonly HealthLine[], assumed: string | undefined): HttpResponse {
  const status = checks.every(({ ok }) => ok) ? 200 : 503
  const lines = checks.map(({ ok, text }) => `[${ok ? '+' : '!'}] ${text}`)
  if (assumed !== undefined) lines.push(assumed)
  return lines.length === 0
    ? { status, headers: {}, body: '' }
    : { status, headers: TEXT_HEADERS, body: `${lines.join('\n')}\n` }
}
