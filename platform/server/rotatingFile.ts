import { closeSync, existsSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'

const MAX_BYTES = 64 * 1024 * 1024
const KEPT_FILES = 5

/** A file of lines that is put aside when it is large: `petrel.log`, `petrel.log.1` (the newest before), … */
export class RotatingFile {
  readonly #path: string
  readonly #maxBytes: number
  #file: number
  #bytes: number

  /** Opens the file, created when absent; readable by its owner alone. */
  constructor(path: string, maxBytes: number = MAX_BYTES) {
    this.#path = path
    this.#maxBytes = maxBytes
    this.#file = openSync(path, 'a', 0o600)
    this.#bytes = fstatSync(this.#file).size
  }

  write(text: string): void {
    if (this.#bytes >= this.#maxBytes) this.#turn()
    this.#bytes += writeSync(this.#file, text)
  }

  #turn(): void {
    closeSync(this.#file)
    rmSync(`${this.#path}.${KEPT_FILES}`, { force: true })
    for (let i = KEPT_FILES - 1; i >= 0; i--) {
      const name = i === 0 ? this.#path : `${this.#path}.${i}`
      if (existsSync(name)) renameSync(name, `${this.#path}.${i + 1}`)
    }
    this.#file = openSync(this.#path, 'a', 0o600)
    this.#bytes = 0
  }
}
