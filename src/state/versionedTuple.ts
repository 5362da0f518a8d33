/** Structs whose fields came and went with the actors' versions, described once. */
import { type Codec, tuple } from '../codec/description.ts'

/** Actors versions that a field exists in, both ends included. Default: all. */
interface VersionRange {
  readonly from?: number
  readonly until?: number
}

/** One field: property, Lotus' JSON name, codec, versions. */
export type VersionedField<T> = {
  [K in keyof T & string]-?: readonly [
    key: K,
    jsonName: string,
    codec: Codec<Exclude<T[K], undefined>>,
    versions?: VersionRange,
  ]
}[keyof T & string]

/**
 * Codecs of a struct by actors version. `T` is the newest form, with fields that only older versions have as optional
 * ones; a value read at an older version lacks the fields that came later, whatever `T` says, so code for old states
 * asks for the version first.
 * @returns the codec of an actors version, the same object each time
 */
export function versionedTuple<T>(
  name: string,
  fields: readonly VersionedField<T>[],
): (actorsVersion: number) => Codec<T> {
  const byShape = new Map<string, Codec<T>>()
  const byVersion = new Map<number, Codec<T>>()
  return (actorsVersion) => {
    const known = byVersion.get(actorsVersion)
    if (known !== undefined) return known
    const present = fields.filter(([, , , versions]) => {
      return actorsVersion >= (versions?.from ?? 0) && actorsVersion <= (versions?.until ?? Number.POSITIVE_INFINITY)
    })
    // Versions with the same layout share a codec, so that decoded values are shared through the tree caches.
    const shape = present.map((field) => `${field[1]}:${fields.indexOf(field)}`).join()
    let codec = byShape.get(shape)
    if (codec === undefined) {
      codec = tuple<T>(name, present.map(([key, jsonName, inner]) => [key, jsonName, inner]) as never)
      byShape.set(shape, codec)
    }
    byVersion.set(actorsVersion, codec)
    return codec
  }
}
