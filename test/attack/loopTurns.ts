/**
 * Loaded into a node (`--import`): how much processor time its event loop spends from one turn to the next. A machine that lacks
 * processors makes a turn last longer and does not change this. SIGUSR2 writes the figures since the last one to `PETREL_TURNS_FILE`.
 */
import { writeFileSync } from 'node:fs'
import process from 'node:process'
import { isMainThread } from 'node:worker_threads'

/** Milliseconds of processor time. */
export interface LoopTurns {
  readonly count: number
  readonly p99: number
  readonly p999: number
  /** The longest, from the longest on. */
  readonly longest: readonly number[]
}

const LONGEST = 8
const file = process.env.PETREL_TURNS_FILE

if (isMainThread && file !== undefined) {
  const used = (): number => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let turns: number[] = []
  let last = used()
  setInterval(() => {
    const now = used()
    turns.push(now - last)
    last = now
  }, 1).unref()
  process.on('SIGUSR2', () => {
    turns.sort((a, b) => b - a)
    const at = (share: number): number => turns[Math.floor(turns.length * share)] ?? 0
    const figures: LoopTurns = { count: turns.length, p99: at(0.01), p999: at(0.001), longest: turns.slice(0, LONGEST) }
    writeFileSync(file, JSON.stringify(figures))
    turns = []
    last = used()
  })
}
