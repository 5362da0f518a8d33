/** What a light node is told by files and addresses. Node and Deno. */
import { parseJson } from '../../src/codec/jsonText.ts'
import { type LightCheckpoint, parseCheckpoint } from '../../src/light/checkpoint.ts'
import { PlatformError } from './errors.ts'
import { readTextFile } from './home.ts'

/** @throws PlatformError `CONFIG_INVALID`; LightError `CHECKPOINT_INVALID` */
export function readCheckpoint(path: string): LightCheckpoint {
  const text = readTextFile(path)
  if (text === undefined) throw new PlatformError('CONFIG_INVALID', `Cannot find the checkpoint ${path}`)
  return parseCheckpoint(parseJson(text))
}

/** An endpoint as people write it, with the path of the API. @throws PlatformError `CONFIG_INVALID` */
export function endpointUrl(text: string): string {
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new PlatformError('CONFIG_INVALID', `Cannot use the endpoint ${text}: it is no address`, {}, { cause })
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new PlatformError('CONFIG_INVALID', `Cannot use the endpoint ${text}: expected http:// or https://`)
  }
  if (url.pathname === '/') url.pathname = '/rpc/v1'
  return url.toString()
}
