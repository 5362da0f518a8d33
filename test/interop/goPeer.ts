/** Builds the Go peer of `test/interop/go`, starts it, and speaks with it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Answer } from '../support/rpcClient.ts'

const SOURCE = fileURLToPath(new URL('./go/', import.meta.url))
/** The modules are 60 MB; a machine that cannot have them in this time goes without these tests. */
const MODULES_MS = 180_000
const START_MS = 30_000
const CALL_MS = 120_000

/** Where else Go is, when it is not in PATH. */
const GO_PLACES = ['go', '/usr/local/go/bin/go']

/** What a peer is started with. */
export interface GoPeerOptions {
  /** A CARv1 file with a whole chain; its roots are the head. */
  readonly chain: string
  /** Name of the network, as in its topics. */
  readonly network: string
  readonly listen?: readonly string[]
  /** Tipsets above the head that `next` gossips. */
  readonly withhold?: number
}

/** A tipset as the peer tells it. */
export interface TipsetNote {
  readonly height: number
  readonly cids: readonly string[]
}

/** What happened in a peer so far. */
export interface PeerStats {
  readonly counts: Readonly<Record<string, number>>
  readonly errors: readonly string[]
}

/** How a message leaves on a stream of its own; see `go/raw.go`. */
export const RAW_MODES = ['library', 'one', 'two', 'bytes', 'late'] as const

/** A running peer. */
export interface GoPeer {
  readonly id: string
  readonly addresses: readonly string[]
  /** The first of its addresses with this in it. */
  address(part: string): string
  /** @throws Error with the peer's own text */
  call(method: string, params?: object): Promise<Answer>
  stats(): Promise<PeerStats>
  stop(): Promise<void>
}

/** Go's variables: nothing may fetch another tool chain or change go.mod. */
const ENV = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' }

/** @returns the program, or why it cannot be built on this machine; a build that fails is an error of ours. */
export function buildGoPeer(): { program: string } | { missing: string } {
  const go = GO_PLACES.find((one) => spawnSync(one, ['version']).status === 0)
  if (go === undefined) return { missing: 'no Go on this machine' }
  const options = { cwd: SOURCE, env: ENV, encoding: 'utf8' } as const
  const modules = spawnSync(go, ['mod', 'download'], { ...options, timeout: MODULES_MS })
  if (modules.status !== 0) {
    const reason = modules.error?.message ?? modules.stderr.trim().split('\n').pop()
    return { missing: `Go's modules are not to be had: ${reason}` }
  }
  const folder = join(tmpdir(), 'petrel-interop')
  mkdirSync(folder, { recursive: true })
  const program = join(folder, 'peer')
  const built = spawnSync(go, ['build', '-trimpath', '-o', program, '.'], options)
  if (built.status !== 0) throw new Error(`go build: ${built.stderr}`)
  return { program }
}

/** Starts a peer; it ends with this process. */
export async function startGoPeer(program: string, options: GoPeerOptions): Promise<GoPeer> {
  const args = ['-chain', options.chain, '-network', options.network, '-withhold', String(options.withhold ?? 0)]
  if (options.listen !== undefined) args.push('-listen', options.listen.join(','))
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const errors: string[] = []
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString('utf8')))
  const lines = new Answers(child, () => errors.join(''))
  const ready = await lines.ready(START_MS)
  const id: string = ready.id
  const addresses: string[] = ready.addresses
  const call = (method: string, params: object = {}): Promise<Answer> => lines.ask(method, params)
  return {
    id,
    addresses,
    address: (part) => {
      const found = addresses.find((one) => one.includes(part))
      if (found === undefined) throw new Error(`no address with ${part} among ${addresses.join(' ')}`)
      return found
    },
    call,
    stats: () => call('stats'),
    stop: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.stdin.end()
      child.kill()
      await exited
    },
  }
}

interface Waiting {
  resolve(value: Answer): void
  reject(error: Error): void
}

/** The peer's lines: one object each. */
class Answers {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  readonly #errors: () => string
  #last = 0

  constructor(child: ChildProcess, errors: () => string) {
    this.#child = child
    this.#errors = errors
    const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
    lines.on('line', (line) => this.#take(JSON.parse(line)))
    child.on('exit', () => {
      for (const one of this.#waiting.values()) one.reject(new Error(`the Go peer ended:\n${errors()}`))
    })
  }

  ready(ms: number): Promise<Answer> {
    return this.#expect(0, 'start', ms)
  }

  ask(method: string, params: object): Promise<Answer> {
    const id = ++this.#last
    this.#child.stdin?.write(`${JSON.stringify({ id, method, params })}\n`)
    return this.#expect(id, method, CALL_MS)
  }

  #expect(id: number, what: string, ms: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(id)
        reject(new Error(`the Go peer did not answer ${what} in ${ms} ms\n${this.#errors()}`))
      }, ms)
      const settle =
        <T>(done: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(late)
          this.#waiting.delete(id)
          done(value)
        }
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
    })
  }

  #take(line: Answer): void {
    if (line.ready !== undefined) return this.#waiting.get(0)?.resolve(line.ready)
    const one = this.#waiting.get(line.id)
    if (line.error === undefined) one?.resolve(line.result)
    else one?.reject(new Error(line.error))
  }
}
