/** What a program may touch outside the node: streams, environment, home folder. Tests pass their own. */
export interface ProgramIo {
  out(text: string): void
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

/** Prints one line. */
export function line(io: ProgramIo, text: string): void {
  io.out(`${text}\n`)
}
