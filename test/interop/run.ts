/**
 * Petrel and a peer of another make: `go/`, out of the libraries that Lotus is made of. Each follows the other, in Node, in
 * Deno, and in a page of Chromium. Ends with `N passed, N failed, N skipped`.
 *
 *     npm run test:interop [-- node|deno|flood|chromium]
 */
import { openChromium } from '../runtimes/chromiumHost.ts'
import { findChromium } from '../support/chromium.ts'
import { missingShared } from '../support/shared.ts'
import { followsFlood } from './flood.ts'
import {
  executionMissing,
  followRecorded,
  followsRecordedChain,
  RECORDED,
  type RecordedFiles,
  readsRecordedState,
  unpackRecorded,
} from './follows.ts'
import { buildGoPeer } from './goPeer.ts'
import { fetchesFiles } from './ipfs.ts'
import { beside, startLeader } from './leader.ts'
import { pageFollows } from './page.ts'
import { answersRawStreams } from './rawStreams.ts'
import { peerAsks, peerFollows } from './serves.ts'

const counts = { passed: 0, failed: 0, skipped: 0 }

async function check(name: string, run: () => Promise<string | undefined>): Promise<void> {
  const started = performance.now()
  try {
    const note = await run()
    counts.passed++
    console.log(`ok   ${name} (${Math.round(performance.now() - started)} ms)${note === undefined ? '' : `: ${note}`}`)
  } catch (error) {
    counts.failed++
    console.log(`FAIL ${name}\n${(error as Error).stack ?? String(error)}`)
  }
}

function skip(name: string, reason: string): void {
  counts.skipped++
  console.log(`skipped: ${name}: ${reason}`)
}

/** Petrel in a runtime follows the Go peer. */
async function following(program: string, runtime: string, files: RecordedFiles | undefined): Promise<void> {
  for (const validate of ['headers', 'execute'] as const) {
    const name = `${runtime}: follows the Go peer, ${validate}`
    const missing =
      files === undefined ? missingShared(RECORDED) : validate === 'execute' ? executionMissing() : undefined
    if (files === undefined || missing !== undefined) {
      skip(name, missing ?? '')
      continue
    }
    await check(name, async () => {
      await followRecorded({ program, files, runtime, validate }, async (followed) => {
        await followsRecordedChain(followed)
        await readsRecordedState(followed)
      })
      return undefined
    })
  }
}

/** The Go peer follows Petrel. */
async function serving(program: string, runtime: string): Promise<void> {
  await check(`${runtime}: the Go peer follows it and asks it`, async () => {
    await beside(program, runtime, async (leader, peer) => {
      await peerFollows(leader, peer)
      await peerAsks(leader, peer)
    })
    return undefined
  })
  if (runtime === 'node') {
    await check('node: fetches files of IPFS by bitswap', async () => {
      let note = ''
      await beside(program, runtime, async (_, peer) => {
        note = await fetchesFiles(peer)
      })
      return note
    })
  }
  await check(`${runtime}: answers however a message and its end arrive`, async () => {
    const leader = await startLeader(runtime)
    try {
      await answersRawStreams(program, leader)
      return undefined
    } finally {
      await leader.stop()
    }
  })
}

async function inChromium(program: string, files: RecordedFiles | undefined): Promise<void> {
  const name = 'chromium: a page follows the Go peer by WebTransport'
  const missing =
    files === undefined ? missingShared(RECORDED) : findChromium() === undefined ? 'no Chromium' : undefined
  if (files === undefined || missing !== undefined) return skip(name, missing ?? '')
  const chromium = await openChromium()
  try {
    await check(name, async () => {
      await pageFollows(program, files, chromium)
      return undefined
    })
  } finally {
    await chromium.close()
  }
}

async function main(wanted: readonly string[]): Promise<void> {
  const built = buildGoPeer()
  if ('missing' in built) return skip('a peer of another make', built.missing)
  const { program } = built
  const files = missingShared(RECORDED) === undefined ? unpackRecorded() : undefined
  try {
    for (const runtime of ['node', 'deno']) {
      if (wanted.length > 0 && !wanted.includes(runtime)) continue
      await following(program, runtime, files)
      await serving(program, runtime)
    }
    const flood = '5,000 messages in one tipset pass through the Go peer'
    if (wanted.length === 0 || wanted.includes('flood')) {
      await check(flood, async () => {
        let note = ''
        await beside(program, 'node', async (leader, peer) => {
          note = await followsFlood('node', leader, peer)
        })
        return note
      })
    }
    if (wanted.length === 0 || wanted.includes('chromium')) await inChromium(program, files)
  } finally {
    files?.remove()
  }
}

await main(process.argv.slice(2))
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exit(counts.failed === 0 ? 0 : 1)
