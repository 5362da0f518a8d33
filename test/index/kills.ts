/** Kills at random moments: of a writer's process, of its connection, of its server. Each time another one goes on. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestPostgres } from '../support/postgres.ts'
import { connect } from './indexed.ts'

/** Tipsets that a writer's chain has, about. */
export const EPOCHS = 16
/** Longest time from the moment at which a writer's chain is there to the kill: about what it takes to write. */
const LONGEST_MS = 1000
const WRITER = fileURLToPath(new URL('writerProcess.ts', import.meta.url))

/** What is killed. */
const VICTIMS = ['writer', 'writer', 'connection', 'server'] as const

/**
 * Runs writers until one is done, of which `moments` were disturbed.
 * @param random - whole number from 0 to below
 * @returns how often each kind was killed
 */
export async function killedWriters(
  server: TestPostgres,
  url: string,
  moments: number,
  random: (below: number) => number,
): Promise<Record<string, number>> {
  const kills: Record<string, number> = {}
  for (let left = moments; ; ) {
    const child = spawn(process.execPath, [WRITER, url, String(EPOCHS)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    const words: string[] = []
    let isStarted = (): void => undefined
    const started = new Promise<void>((resolve) => (isStarted = resolve))
    createInterface({ input: child.stdout }).on('line', (word) => {
      words.push(word)
      isStarted()
    })
    await Promise.race([started, ended])
    while (left > 0 && child.exitCode === null && child.signalCode === null) {
      await Promise.race([new Promise((done) => setTimeout(done, random(LONGEST_MS))), ended])
      if (child.exitCode !== null) break
      const victim = VICTIMS[random(VICTIMS.length)] ?? 'writer'
      left--
      kills[victim] = (kills[victim] ?? 0) + 1
      if (victim === 'writer') {
        child.kill('SIGKILL')
        await ended
      } else if (victim === 'connection') await endConnections(server, url)
      else {
        await server.kill()
        await server.restart()
      }
    }
    const [code] = await ended
    if (code !== null && code !== 0) throw new Error(`a writer ended with ${String(code)}`)
    if (words.includes('done') && left <= 0) return kills
  }
}

async function endConnections(server: TestPostgres, url: string): Promise<void> {
  const sql = connect(server.url())
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${new URL(url).pathname.slice(1)}`
  await sql.end()
}
