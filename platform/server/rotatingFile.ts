import { closeSync, existsSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { utf8 } from '../../src/base/bytes.ts'

const MAX_BYTES = 64 * 1024 * 1024
const KEPT_FILES = 5

/** A file of lines that is put aside when it is large: `petrel.log`, `petrel.log.1` (the newest before), … */
export class RotatingFile {
  readonly #path: string
  readonly #maxBytes: number
  #file: number
  #bytes: number
  /** Whether the last line is not there to its end. */
  #isCut = false

  /** Opens the file, created when absent; readable by its owner alone. */
  constructor(path: string, maxBytes: number = MAX_BYTES) {
    this.#path = path
    this.#maxBytes = maxBytes
    this.#file = openSync(path, 'a', 0o600)
    this.#bytes = fstatSync(this.#file).size
  }

  /** @throws what the system says: a full disk. The line is lost then, or its end is; the next one may be tried as if nothing was. */
  write(text: string): void {
    if (this.#bytes >= this.#maxBytes) this.#turn()
    const line = utf8(this.#isCut ? `\n${text}` : text)
    const written = writeSync(this.#file, line)
    this.#bytes += written
    this.#isCut = written < line.length
  }

  #turn(): void {
    // It is not there where the next one could not be made: then what is kept has moved already.
    if (existsSync(this.#path)) {
      rmSync(`${this.#path}.${KEPT_FILES}`, { force: true })
      for (let i = KEPT_FILES - 1; i >= 0; i--) {
        const name = i === 0 ? this.#path : `${this.#path}.${i}`
        if (existsSync(name)) renameSync(name, `${this.#path}.${i + 1}`)
      }
    }
    const next = openSync(this.#path, 'a', 0o600)
    // Not before: its number might become that of another file, and the next line would go there.
    closeSync(this.#file)
    this.#file = next
    this.#bytes = 0
    this.#isCut = false
  }
}
