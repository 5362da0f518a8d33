/** The built-in actors of a network, in the form of its data files. */
import type { Json } from '../../codec/jsonText.ts'

/** By actors version: CID of the manifest under `manifest`, CIDs of codes under the manifest's names of kinds. */
export type ActorCodes = Readonly<Record<number, { readonly manifest: string; readonly [kind: string]: string }>>

/** The bundle that a version of the actors without one of its own gets in the reference. */
const STAND_INS: readonly (readonly [number, number])[] = [[19, 18]]

/** The manifests of a network file. */
export function manifestsOf(codes: ActorCodes): Json {
  const entries = Object.entries(codes).map(([version, of]) => [Number(version), of] as const)
  for (const [version, other] of STAND_INS) {
    const of = codes[other]
    if (of !== undefined) entries.push([version, of])
  }
  return entries.map(([actorsVersion, { manifest, ...actors }]) => ({ actorsVersion, manifestCid: manifest, actors }))
}
