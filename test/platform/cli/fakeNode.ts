/** A server that answers JSON-RPC calls from a table, and the command line run against it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AddNodeCommands, runCli } from '../../../platform/cli/program.ts'
import { type Json, parseJson, stringifyJson } from '../../../src/codec/jsonText.ts'

/** A failure of a fake method. */
export class Refusal extends Error {
  readonly code: number

  constructor(message: string, code = 1) {
    super(message)
    this.code = code
  }
}

/** A fake method that was carried out, and whose answer never comes: the connection ends. */
export class Gone extends Error {}

/** Answers by method name, without namespace. */
export type Answers = Record<string, Json | ((...params: Json[]) => Json)>

/** One request as the server saw it. */
export interface SeenCall {
  readonly path: string
  readonly method: string
  readonly params: Json[]
  readonly authorization: string | undefined
}

/** A running fake. */
export interface FakeNode {
  readonly port: number
  readonly calls: SeenCall[]
  answers: Answers
  close(): Promise<void>
}

/** Starts a fake on a free port of the loopback. */
export async function startFakeNode(answers: Answers = {}): Promise<FakeNode> {
  const node: { calls: SeenCall[]; answers: Answers } = { calls: [], answers }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method: full, params } = parseJson(Buffer.concat(chunks).toString()) as { method: string; params: Json[] }
      const method = full.replace(/^(Filecoin|Node)\./, '')
      node.calls.push({ path: request.url ?? '', method, params, authorization: request.headers.authorization })
      const answer = node.answers[method]
      let body: { [key: string]: Json }
      if (answer === undefined) {
        body = { error: { code: -32601, message: `method '${full}' not found` } }
      } else {
        try {
          body = { result: typeof answer === 'function' ? answer(...params) : answer }
        } catch (error) {
          if (error instanceof Gone) return void request.socket.destroy()
          if (!(error instanceof Refusal)) throw error
          body = { error: { code: error.code, message: error.message } }
        }
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(stringifyJson({ jsonrpc: '2.0', id: 1, ...body }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(node, {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  })
}

/** What a command left behind. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Settings of one run. */
export interface RunOptions {
  readonly env?: Record<string, string | undefined>
  /** Files that the command can read, by path. */
  readonly files?: Record<string, string>
  readonly stdin?: string
  /** Default: no terminal. */
  readonly isTty?: boolean
  /** Unix milliseconds. */
  readonly now?: number
  readonly signal?: AbortSignal
  /** What becomes of output. Default: it is taken. */
  readonly written?: () => Promise<void>
  /** Called when the command waits. */
  readonly onSleep?: () => void
  readonly addNodeCommands?: AddNodeCommands
}

/** Runs `petrel <args>`; every file but those given is missing. */
export async function petrel(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  let out = ''
  let err = ''
  let now = options.now ?? 1_700_000_000_000
  const code = await runCli(args, {
    version: '0.1.0-test',
    ...(options.addNodeCommands === undefined ? {} : { addNodeCommands: options.addNodeCommands }),
    io: {
      out: (text) => {
        out += text
      },
      ...(options.written === undefined ? {} : { written: options.written }),
      err: (text) => {
        err += text
      },
      env: options.env ?? {},
      userHome: '/home/someone',
      isTty: options.isTty ?? false,
      stdin: () => Promise.resolve(options.stdin ?? ''),
      readFile: (path) => {
        const text = options.files?.[path]
        return text === undefined ? Promise.reject(new Error(`ENOENT: ${path}`)) : Promise.resolve(text)
      },
      signal: options.signal ?? new AbortController().signal,
      now: () => now,
      sleep: (ms) => {
        now += ms
        options.onSleep?.()
        return Promise.resolve()
      },
    },
  })
  return { code, out, err }
}

/** Environment that leads to a fake. */
export function leadingTo(node: FakeNode, token = 'a.b.c'): { env: Record<string, string> } {
  return { env: { FULLNODE_API_INFO: `${token}:/ip4/127.0.0.1/tcp/${node.port}/http` } }
}
