/** Where the suite's node runs: a process of Node or Deno, a tab of Chromium. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { startNode } from './nodeProcess.ts'

/** Calls with one token. */
export interface NodeClient {
  /** @throws RpcFailure */
  call(method: string, ...params: unknown[]): Promise<Answer>
}

/** Text frames both ways. */
export interface Line {
  send(text: string): void
  close(): void
}

/** A node that was started. */
export interface RunningNode {
  /** Of its HTTP server; empty in a tab. */
  readonly url: string
  /** Folder of its files; empty in a tab. */
  readonly home: string
  /** With all permissions. */
  readonly token: string
  /** From the start to the first answer that can be asked for, ms. */
  readonly startMs: number
  /** @param token - undefined: without permissions above read */
  client(token?: string, path?: 'v0' | 'v1'): NodeClient
  /** Opens a line without a token. */
  openLine(onFrame: (text: string) => void): Promise<Line>
  isAlive(): Promise<boolean>
  output(): string
  /** In order. @returns 0 */
  stop(): Promise<number | null>
  /** As a crash would. */
  kill(): Promise<void>
}

/** Starts the same node again and again, each time with what the last one left. */
export interface NodeHost {
  start(): Promise<RunningNode>
  /** Removes what it left. */
  dispose(): Promise<void>
}

/** A process over a folder of its own. @param args - of the program: `['devnet', '--api', '0']` */
export function processHost(runtime: string, args: readonly string[]): NodeHost {
  const home = mkdtempSync(join(tmpdir(), `petrel-${runtime}-`))
  return {
    start: async () => {
      const node = await startNode(runtime, home, args)
      const { url } = node
      return {
        ...node,
        home,
        client: (token, path) => new RpcClient(url, token, path),
        openLine: async (onFrame) => {
          const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc/v1`)
          socket.onmessage = ({ data }) => onFrame(String(data))
          await new Promise((resolve, reject) => {
            socket.onopen = resolve
            socket.onerror = reject
          })
          return { send: (text) => socket.send(text), close: () => socket.close() }
        },
        isAlive: () =>
          fetch(`${url}/health/livez`).then(
            () => true,
            () => false,
          ),
      }
    },
    dispose: () => {
      rmSync(home, { recursive: true, force: true })
      return Promise.resolve()
    },
  }
}
