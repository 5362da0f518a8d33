/** Gets what the tests need and npm does not have: a Chromium, from Debian's own package where we may install it. */
import { spawnSync } from 'node:child_process'
import { findChromium } from '../test/support/chromium.ts'

function run(command: string, args: readonly string[]): boolean {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env: environment }).status === 0
}

/** Installs Chromium unless there is one. @returns why there is none now; undefined when there is one */
export function installChromium(): string | undefined {
  if (findChromium() !== undefined) return undefined
  const hint = 'install Chromium or Chrome, or name one in PETREL_CHROMIUM'
  if (spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0) return `no apt-get here: ${hint}`
  if (process.getuid?.() !== 0) return `not root: ${hint}`
  console.log('installing Chromium by apt-get …')
  run('apt-get', ['update', '-qq'])
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'])
  return findChromium() === undefined ? `apt-get could not: ${hint}` : undefined
}

if (import.meta.main) {
  const problem = installChromium()
  if (problem !== undefined) {
    console.error(`no Chromium: ${problem}`)
    process.exitCode = 1
  }
}
