import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What a store's content comes to, and what a look through it says. */
interface StoreAnswer {
  readonly values: string
  readonly faults: string
}

/**
 * Asks {@link file://./storeReader.ts}, or {@link file://./placesReader.ts}, in a process of its own, and starts another when LMDB has ended it.
 */
export class StoreReader {
  readonly #script: string
  #process: ChildProcess | undefined

  constructor(script: 'storeReader.ts' | 'placesReader.ts' = 'storeReader.ts') {
    this.#script = script
  }

  /** @returns undefined when LMDB has ended the process */
  async ask(home: string): Promise<StoreAnswer | undefined> {
    const script = fileURLToPath(new URL(this.#script, import.meta.url))
    if (this.#process === undefined || this.#process.exitCode !== null || this.#process.signalCode !== null) {
      this.#process = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'ignore'] })
    }
    const one = this.#process
    return await new Promise((resolve) => {
      const lines = createInterface({ input: one.stdout as NonNullable<typeof one.stdout> })
      const over = (): void => resolve(undefined)
      one.once('exit', over)
      lines.once('line', (text) => {
        one.removeListener('exit', over)
        lines.close()
        resolve(JSON.parse(text) as StoreAnswer)
      })
      one.stdin?.write(`${home}\n`)
    })
  }

  close(): void {
    this.#process?.kill()
  }
}
