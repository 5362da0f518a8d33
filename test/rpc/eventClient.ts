/**
 * A program that books transfers as a standard `EventSource` hears them: `node eventClient.ts <url> <file>`.
 * A line of the file is one event with its position, written at once: where the file ends, a next run goes on.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { EventSource } from 'eventsource'

const [url, file] = process.argv.slice(2) as [string, string]
const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
const last = lines.at(-1)
const since = last === undefined ? '' : (JSON.parse(last) as { position: string }).position
const source = new EventSource(`${url}/transfers?confidence=2&since=${encodeURIComponent(since)}`)
source.addEventListener('message', ({ lastEventId, data }) => {
  appendFileSync(file, `${JSON.stringify({ position: lastEventId, steps: JSON.parse(data as string) as unknown })}\n`)
})
source.addEventListener('open', () => console.log('open'))
source.addEventListener('error', () => {
  // One that comes again by itself says 0.
  console.log(`state ${source.readyState}`)
})
// This client's timer of reconnecting keeps no process alive.
setInterval(() => undefined, 60_000)
