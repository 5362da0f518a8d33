/** What the commands that serve an API read from their command lines alike. */
import type { Command } from 'commander'
import { MAX_READ_THREADS } from '../../src/base/bounds.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { MIN_CACHE_MIB } from '../server/cacheSize.ts'
import type { AccessOptions } from '../server/options.ts'
import { TrustedProxies } from '../server/trustedProxies.ts'
import { wholeNumber } from './context.ts'
import { CliError } from './errors.ts'

const MAX_PORT = 65535
/** A web origin: scheme, host, and port where it is not the scheme's (RFC 6454, section 6.2), as browsers send it. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/

/** For commander: gathers the values of an option that may be given more than once. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}

/** `--api`. @throws CliError `USAGE` */
export function apiPort(text: string): number {
  const port = wholeNumber(text, 'api')
  if (port < 0 || port > MAX_PORT) throw new CliError('USAGE', `api: ${port} is no port`)
  return port
}

/** Who may call: what the command line says of it. */
export interface AccessFlags {
  readonly corsOrigin?: string[]
  readonly apiName?: string[]
  readonly trustedProxy?: string[]
}

/** Adds the options of {@link AccessFlags}. */
export function accessFlags(command: Command): Command {
  return command
    .option('--cors-origin <origin>', 'web pages of this origin may call the API (repeatable)', collect)
    .option(
      '--api-name <host>',
      'name by which callers without a token reach the API, e.g. behind a proxy (repeatable)',
      collect,
    )
    .option(
      '--trusted-proxy <address>',
      'proxy, or network of them (10.0.0.0/8), whose X-Forwarded-For says who calls (repeatable)',
      collect,
    )
}

/** @throws CliError `USAGE` */
export function accessOptions({ corsOrigin, apiName = [], trustedProxy = [] }: AccessFlags): AccessOptions {
  try {
    new TrustedProxies(trustedProxy)
  } catch (error) {
    throw new CliError('USAGE', `trusted-proxy: ${errorMessage(error)}`, {}, { cause: error })
  }
  const apiNames = apiName.map((name) => name.toLowerCase())
  return { corsOrigins: corsOrigins(corsOrigin), apiNames, trustedProxies: trustedProxy }
}

/** `--cors-origin`. @throws CliError `USAGE` for one that no browser would send */
function corsOrigins(texts: readonly string[] | undefined = []): readonly string[] {
  const wrong = texts.find((text) => text !== '*' && text !== 'null' && !ORIGIN.test(text))
  if (wrong === undefined) return texts
  throw new CliError('USAGE', `cors-origin: expected an origin (https://host:port) or *, got "${wrong}"`)
}

/** `--cache`, MiB. @throws CliError `USAGE` */
export function cacheMib(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const mebibytes = wholeNumber(text, 'cache')
  if (mebibytes < MIN_CACHE_MIB) throw new CliError('USAGE', `cache: at least ${MIN_CACHE_MIB} MiB are needed`)
  return mebibytes
}

/** `--rpc-threads`. @throws CliError `USAGE` */
export function readThreads(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const threads = wholeNumber(text, 'rpc-threads')
  if (threads < 0 || threads > MAX_READ_THREADS) {
    throw new CliError('USAGE', `rpc-threads: expected 0 to ${MAX_READ_THREADS}, got "${text}"`)
  }
  return threads
}

/** Less, and a list of a large state would fetch what it deleted. */
const MIN_DISK_CACHE_MIB = 64

/** @throws CliError `USAGE` */
export function diskCacheMib(text: string): number {
  const mebibytes = wholeNumber(text, 'disk-cache')
  if (mebibytes < MIN_DISK_CACHE_MIB) {
    throw new CliError('USAGE', `disk-cache: at least ${MIN_DISK_CACHE_MIB} MiB are needed`)
  }
  return mebibytes
}
