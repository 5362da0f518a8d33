/** The command line's streams and environment: those of this process. */
import { fstatSync, fsyncSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { errorMessage } from '../../src/base/errors.ts'
import { whenAborted } from '../../src/base/waiting.ts'
import { systemCode } from '../server/errors.ts'
import type { ProgramIo } from '../server/programIo.ts'
import { CliError } from './errors.ts'

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Exit code where what a command had to say could not be written. */
const UNWRITTEN = 1

/**
 * A reader that has gone (`petrel chain list | head`) is no failure of ours, and a node goes on without it. Nor does it end when its
 * messages have no room on their disk: there is nowhere to say it.
 */
function ignoreGoneReaders(): void {
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', unwritten)
}

function unwritten(error: unknown): void {
  if (systemCode(error) === 'EPIPE' || process.exitCode === UNWRITTEN) return
  // A node goes on, and whoever reads a command's answer learns that it is not whole.
  process.exitCode = UNWRITTEN
  process.stderr.write(`ERROR: cannot write to standard output: ${errorMessage(error)}\n`)
}

/** Standard output, and whether it was taken. After a failure nothing more is written: it would stand behind half a line. */
function standardOutput(): Pick<Required<ProgramIo>, 'out' | 'written'> {
  const { fd } = process.stdout
  if (fstatSync(fd).isFile()) {
    let failure: Error | undefined
    return {
      out: (text) => {
        if (failure !== undefined) return
        try {
          // Node.js' own stream takes a short write, of a disk that is nearly full, for a whole one (internal/fs/sync_write_stream).
          for (let left = Buffer.from(text); left.length > 0; ) left = left.subarray(writeSync(fd, left))
        } catch (error) {
          failure = error as Error
          unwritten(error)
        }
      },
      written: async () => {
        if (failure !== undefined) throw failure
        fsyncSync(fd)
      },
    }
  }
  let last: Promise<void> = Promise.resolve()
  return {
    out: (text) => {
      last = new Promise((taken, failed) =>
        process.stdout.write(text, (error) => (error instanceof Error ? failed(error) : taken())),
      )
      // Most do not ask.
      last.catch(() => undefined)
    },
    // A stream that failed once fails for good, so the last one says it for all.
    written: () => last,
  }
}

/** @param signal - aborted by Ctrl-C */
export function processIo(signal: AbortSignal): ProgramIo {
  ignoreGoneReaders()
  return {
    ...standardOutput(),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    userHome: homedir(),
    isTty: process.stdout.isTTY,
    stdin: readStdin,
    readFile: async (path) => {
      try {
        return await readFile(path, 'utf8')
      } catch (cause) {
        throw new CliError(
          'FAILED',
          `cannot read ${path}: ${systemCode(cause) || 'unknown failure'}`,
          { path },
          { cause },
        )
      }
    },
    signal,
    onHangup: (listener) => void process.on('SIGHUP', listener),
    now: () => Date.now(),
    // Ends early when the signal fires: nothing waits behind Ctrl-C.
    sleep: (ms) =>
      new Promise((resolve) => {
        let stopListening = (): void => undefined
        const timer = setTimeout(() => done(), ms)
        const done = (): void => {
          clearTimeout(timer)
          stopListening()
          resolve()
        }
        stopListening = whenAborted(signal, done)
      }),
  }
}
