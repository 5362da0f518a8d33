/** Asks one question over and over on kept-alive connections, in a process of its own so that it does not slow the node. */
import { Agent, request } from 'node:http'

/** What a run found. */
export interface LoadResult {
  readonly perSecond: number
  /** Of one request, ms. */
  readonly medianMs: number
  readonly p99Ms: number
}

/**
 * @param body - JSON of the request
 * @param connections - requests under way at any time
 */
export async function load(
  url: string,
  token: string,
  body: string,
  connections: number,
  durationMs: number,
): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const times: number[] = []
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Authorization: `Bearer ${token}`,
  }
  const once = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const started = performance.now()
      const call = request(`${url}/rpc/v1`, { agent, method: 'POST', headers }, (response) => {
        response.on('end', () => {
          times.push(performance.now() - started)
          resolve()
        })
        response.resume()
      })
      call.on('error', reject)
      call.end(body)
    })
  for (let i = 0; i < 200; i++) await once()
  times.length = 0
  const started = performance.now()
  const end = started + durationMs
  const worker = async (): Promise<void> => {
    while (performance.now() < end) await once()
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - started) / 1000
  agent.destroy()
  times.sort((a, b) => a - b)
  return {
    perSecond: times.length / seconds,
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
  }
}

// As a program: arguments in, one line of JSON out.
if (process.argv[1] === import.meta.filename) {
  const [url, token, body, connections, durationMs] = process.argv.slice(2) as [string, string, string, string, string]
  console.log(JSON.stringify(await load(url, token, body, Number(connections), Number(durationMs))))
}
