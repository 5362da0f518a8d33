import { errorMessage } from '../../src/base/errors.ts'
import { VALIDATE_MODES, type ValidateMode } from '../../src/node/modes.ts'
import { PlatformError } from './errors.ts'
import { type Home, readTextFile, writeFile } from './home.ts'

/** What a home remembers of its chain between starts: `config.json`, which the node alone writes. */
export interface HomeConfig {
  readonly network?: string
  /** Path of the archive below the chain. */
  readonly snapshot?: string
  readonly validate?: ValidateMode
  /** What lies here is a cache, which deletes what can be had again; absent: a chain. */
  readonly kind?: typeof REPLICA
}

/** {@link HomeConfig.kind} of a replica's home. */
export const REPLICA = 'replica'

/**
 * The text of a `config.json`.
 * @throws PlatformError `CONFIG_INVALID`, naming the path, for anything that the node does not write
 */
export function parseConfig(text: string, path: string): HomeConfig {
  const invalid = (reason: string, cause?: unknown): PlatformError =>
    new PlatformError('CONFIG_INVALID', `Cannot read ${path}: ${reason}`, { path }, { cause })
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw invalid(`it is no JSON: ${errorMessage(cause)}`, cause)
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw invalid('it is no object')
  for (const [key, value] of Object.entries(json)) {
    if (typeof value !== 'string') throw invalid(`${key} is no text`)
    if (key === 'network' || key === 'snapshot') continue
    if (key === 'kind' && value === REPLICA) continue
    if (key !== 'validate') throw invalid(`nothing is called ${JSON.stringify(key)}`)
    if (!(VALIDATE_MODES as readonly string[]).includes(value))
      throw invalid(`validate is none of ${VALIDATE_MODES.join(', ')}`)
  }
  return json
}

/** Writes what is new over what a home remembers. @throws as {@link parseConfig} */
export function saveConfig(home: Home, config: HomeConfig): void {
  writeFile(home.config, `${JSON.stringify({ ...readConfig(home), ...config }, undefined, 2)}\n`)
}

/** Of a home; empty before its first start. @throws as {@link parseConfig} */
export function readConfig(home: Home): HomeConfig {
  const text = readTextFile(home.config)
  return text === undefined ? {} : parseConfig(text, home.config)
}

/** @throws PlatformError `CONFIG_INVALID`: blocks that a replica has fetched are no chain */
export function assertHoldsChain(home: Home): void {
  if (readConfig(home).kind !== REPLICA) return
  const text = `Cannot run a node on ${home.path}: it holds the cache of a replica, no chain; give another --repo`
  throw new PlatformError('CONFIG_INVALID', text)
}
