/**
 * Requests per second of a JSON-RPC server, as `wrk -t1 -c8` measures them: 8 connections in one thread, each sending
 * its next request when the answer to the last one is there.
 *
 *     node test/bench/loadClient.ts http://127.0.0.1:1234/rpc/v1 '{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainHead","params":[]}' [seconds]
 */
import { connect } from 'node:net'
import { pathToFileURL } from 'node:url'

/** What was measured. */
export interface Load {
  readonly requestsPerSecond: number
  readonly medianMs: number
  readonly p99Ms: number
  /** Bytes of one answer, headers included. */
  readonly answerBytes: number
}

const CONNECTIONS = 8

/** Loads `url` with POSTs of `body` for `seconds`. The server must answer with Content-Length. */
export async function load(url: string, body: string, seconds: number): Promise<Load> {
  const { hostname, port, pathname } = new URL(url)
  const request = Buffer.from(
    `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  const times: number[] = []
  let answerBytes = 0
  const end = performance.now() + seconds * 1000
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      socket.setNoDelay(true)
      let sent = 0
      let expected = -1
      let got = 0
      const next = (): void => {
        sent = performance.now()
        if (sent >= end) {
          socket.destroy()
          resolve()
          return
        }
        expected = -1
        got = 0
        socket.write(request)
      }
      socket.on('connect', next)
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        if (expected < 0) {
          const text = chunk.subarray(0, 1024).toString('latin1')
          const length = /content-length: (\d+)/i.exec(text)?.[1]
          if (length === undefined) return reject(new Error('an answer without Content-Length'))
          expected = text.indexOf('\r\n\r\n') + 4 + Number(length)
        }
        got += chunk.length
        if (got < expected) return
        answerBytes = expected
        times.push(performance.now() - sent)
        next()
      })
    })
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
  times.sort((a, b) => a - b)
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? Number.NaN
  return { requestsPerSecond: times.length / seconds, medianMs: at(0.5), p99Ms: at(0.99), answerBytes }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [url, body, seconds] = process.argv.slice(2)
  if (url === undefined || body === undefined) throw new Error('usage: loadClient.ts <url> <body> [seconds]')
  console.log(await load(url, body, Number(seconds ?? 5)))
}
