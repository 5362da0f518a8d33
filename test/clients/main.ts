/**
 * Runs the flows against a node, in Node or Deno: `main.ts <url> <token> <flow>…`. Prints each step; the last line is
 * `done`.
 */
import process from 'node:process'
import { FLOWS } from './overHttp.ts'

const [url, token, ...names] = process.argv.slice(2)
if (url === undefined || token === undefined) throw new RangeError('usage: main.ts <url> <token> <flow>…')
for (const name of names) {
  const flow = FLOWS[name]
  if (flow === undefined) throw new RangeError(`no flow ${name}`)
  await flow(url, token, (step) => console.log(`${name}: ${step}`))
}
console.log('done')
process.exit(0)
