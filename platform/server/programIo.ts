/** What a program may touch outside the node: streams, environment, home folder. Tests pass their own. */
export interface ProgramIo {
  out(text: string): void
  /**
   * Resolves when all that `out` was given has been taken, and is on disk where it goes into a file. Absent: it always is.
   * @throws what the operating system says
   */
  written?(): Promise<void>
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's home folder, where `.petrel` is by default. */
  readonly userHome: string
  readonly isTty: boolean
  /** The whole of standard input as text. */
  stdin(): Promise<string>
  readFile(path: string): Promise<string>
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  now(): number
  sleep(ms: number): Promise<void>
  /** Hears of SIGHUP from now on: the options are to be read again. */
  readonly onHangup?: (listener: () => void) => void
}

/**
 * The same, with SIGHUP heard from now on: it ends a process that does not hear it. One that comes before anybody listens is told to
 * whoever does then.
 */
export function hearingHangups(io: ProgramIo): ProgramIo {
  if (io.onHangup === undefined) return io
  let told = false
  let tell = (): void => {
    told = true
  }
  io.onHangup(() => tell())
  return {
    ...io,
    onHangup: (listener) => {
      tell = listener
      if (told) listener()
      told = false
    },
  }
}

/** Prints one line. */
export function line(io: ProgramIo, text: string): void {
  io.out(`${text}\n`)
}
