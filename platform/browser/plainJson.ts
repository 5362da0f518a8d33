/** JSON of a page's own values. */
import type { Json } from '../../src/codec/jsonText.ts'
import { BrowserError } from './errors.ts'

/** What JSON can say as it is; `toJSON` is honoured, fields that are undefined are left out. @throws BrowserError */
export function toJson(value: unknown): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'object': {
      if (value === null) return null
      if ('toJSON' in value && typeof value.toJSON === 'function') {
        return toJson((value as { toJSON(): unknown }).toJSON())
      }
      if (Array.isArray(value)) return value.map((element) => (element === undefined ? null : toJson(element)))
      const object: { [key: string]: Json } = {}
      for (const [key, field] of Object.entries(value)) if (field !== undefined) object[key] = toJson(field)
      return object
    }
    default:
      throw new BrowserError('OPTIONS_INVALID', `Cannot send a ${typeof value} to the node`)
  }
}
