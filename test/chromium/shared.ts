/** test/support/shared.ts for Chromium: the same functions over the test server. */
import { fetchSync, listSync } from './files.ts'

export const ROOT = '/root/'
export const SHARED: string | undefined = listSync('/shared/data') === undefined ? undefined : '/shared'
export const sharedMissing: boolean = SHARED === undefined

export function missingShared(path: string): string | undefined {
  if (SHARED === undefined) return '../shared is not on this machine'
  const found = listSync(`/shared/${path}`) ?? fetchSync(`/shared/${path}`)
  return found === undefined ? `../shared/${path} is not on this machine` : undefined
}

export function sharedPath(path: string): string {
  throw new Error(`no path of ${path} in a browser: use readShared`)
}

function read(path: string): Uint8Array {
  const bytes = fetchSync(path)
  if (bytes === undefined) throw new Error(`no such file: ${path}`)
  return bytes
}

export const readShared = (path: string): Uint8Array => read(`/shared/${path}`)
export const readSharedText = (path: string): string => new TextDecoder().decode(readShared(path))
export const readSharedJson = <T = unknown>(path: string): T => JSON.parse(readSharedText(path)) as T
export const listShared = (path: string): string[] => {
  const names = listSync(`/shared/${path}`)
  if (names === undefined) throw new Error(`no such folder: ${path}`)
  return names
}
export const readOwn = (path: string): Uint8Array => read(`/root/${path}`)
export const readSharedUnpacked = (path: string): Uint8Array => read(`/unpacked/shared/${path}`)
