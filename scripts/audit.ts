/**
 * Asks npm's registry for known holes of what the lock file names, tools included. Fails for one that scripts/knownHoles.ts does not
 * explain, and for an explanation of one that is there no more. Where the registry has no answer it says `skipped`, and why.
 *
 *     npm run audit
 */
import { spawnSync } from 'node:child_process'
import { EXPLAINED, knownHoles, type Vulnerabilities } from './knownHoles.ts'
import { programArgs } from './programArgs.ts'

/** What `npm audit --json` prints. */
interface Report {
  readonly vulnerabilities?: Vulnerabilities
  /** Why the registry did not answer the question, with its status where it answered something. @see npm lib/utils/audit-error.js */
  readonly message?: string
  readonly statusCode?: number
  /** Why npm did not ask. */
  readonly error?: { readonly summary?: string }
}

programArgs(import.meta.filename, { options: {} })
const { stdout, stderr, error } = spawnSync('npm', ['audit', '--json'], {
  cwd: new URL('..', import.meta.url),
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
})
if (error !== undefined) throw error
const { vulnerabilities, message, statusCode, error: failure } = JSON.parse(stdout) as Report

if (vulnerabilities !== undefined) {
  const { explained, complaints } = knownHoles(vulnerabilities, EXPLAINED)
  for (const line of explained) console.log(line)
  for (const line of complaints) console.error(line)
  console.log(`${explained.length} known holes that are explained, ${complaints.length} complaints`)
  process.exitCode = complaints.length === 0 ? 0 : 1
} else if (message === undefined) {
  console.error(failure?.summary ?? stderr)
  process.exitCode = 1
} else {
  const [reason = ''] = /\bE[A-Z_]{4,}/.exec(message) ?? []
  console.log(
    `skipped: the registry ${statusCode === undefined ? `does not answer (${reason})` : `answers ${statusCode}`}`,
  )
}
