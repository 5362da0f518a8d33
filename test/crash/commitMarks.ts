/** Whether a node is in the midst of a commit, asked from outside while it lives and after it was killed. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Which thread's commits are open. */
interface OpenCommits {
  readonly own: boolean
  readonly aside: boolean
}

/** The marks of {@link file://./markedLmdb.ts}. */
export class CommitMarks {
  readonly #path: string
  /** For the node's process. */
  readonly env: Readonly<Record<string, string>>

  constructor(folder: string) {
    this.#path = join(folder, 'commit-marks')
    const hook = new URL('markedLmdb.ts', import.meta.url).href
    this.env = { NODE_OPTIONS: `--import=${hook}`, COMMIT_MARKS: this.#path }
  }

  now(): OpenCommits {
    const [own = 0, aside = 0] = existsSync(this.#path) ? readFileSync(this.#path) : []
    return { own: own > 0, aside: aside > 0 }
  }

  /** Resolves while a commit is open; in the end also when none is. */
  async untilOpen(mostMs: number): Promise<void> {
    const end = performance.now() + mostMs
    for (;;) {
      const { own, aside } = this.now()
      if (own || aside || performance.now() > end) return
      await nextTurn()
    }
  }
}
