/** A Chromium for tests: `$PETREL_CHROMIUM`, what the machine has, or Debian's package installed by scripts/setup.ts. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Path of a Chromium or Chrome; undefined when there is none. */
export function findChromium(): string | undefined {
  const named = process.env.PETREL_CHROMIUM
  if (named !== undefined && named !== '') return named
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable)
}

function launchOptions(): LaunchOptions {
  const executablePath = findChromium()
  if (executablePath === undefined)
    throw new Error('no Chromium on this machine: `npx node scripts/setup.ts` installs one')
  return { executablePath, args: FLAGS, headless: true }
}

/** Starts it without a window; QUIC is on, WebTransport needs it. The caller closes it. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch(launchOptions())
}

/** The same with a profile on disk, which outlives it. */
export async function launchProfile(folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, launchOptions())
}
