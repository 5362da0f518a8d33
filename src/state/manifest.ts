/**
 * Actor manifests: [1, link to data], data [[name, code]…].
 * @see builtin-actors runtime/src/runtime/builtins.rs; ref-fvm fvm/src/machine/manifest.rs
 */
import { fromUtf8, utf8 } from '../base/bytes.ts'
import { type Cid, CODEC_RAW, createCid, HASH_IDENTITY } from '../codec/cid.ts'
import { type Codec, cid, decode, list, text, tuple, uint } from '../codec/description.ts'
import { type Blockstore, getBlock } from '../ipld/blockstore.ts'
import type { Network } from '../networks/network.ts'
import { type ActorKind, isActorKind } from './actorKind.ts'
import { StateError } from './errors.ts'

/** Names the block with the entries. */
export interface ManifestRoot {
  readonly version: number
  readonly data: Cid
}

/** One built-in actor. */
export interface ManifestEntry {
  readonly name: string
  readonly code: Cid
}

export const manifestRoot: Codec<ManifestRoot> = tuple<ManifestRoot>('manifest.Manifest', [
  ['version', 'Version', uint],
  ['data', 'Data', cid],
])

/** A manifest's data block, in the order of the actors' type numbers. */
export const manifestEntries: Codec<ManifestEntry[]> = list(
  tuple<ManifestEntry>('manifest.ManifestEntry', [
    ['name', 'Name', text],
    ['code', 'Code', cid],
  ]),
)

/** Codes by name, in the manifest's order. Names that the node does not know are kept. */
export type Manifest = ReadonlyMap<string, Cid>

/**
 * Reads a manifest's data block, as the system actor's state links to it.
 * @throws BlockMissing; CodecError
 */
function loadManifestData(store: Blockstore, dataCid: Cid): Manifest {
  return new Map(decode(manifestEntries, getBlock(store, dataCid)).map((item) => [item.name, item.code]))
}

/**
 * Reads a manifest, as bundles name it.
 * @throws BlockMissing; CodecError; StateError `INVALID_MANIFEST`
 */
export function loadManifest(store: Blockstore, manifestCid: Cid): Manifest {
  const { version, data } = decode(manifestRoot, getBlock(store, manifestCid))
  if (version !== 1) throw new StateError('INVALID_MANIFEST', `unsupported manifest version ${version}`)
  return loadManifestData(store, data)
}

/** What a code CID stands for. */
interface ActorCodeInfo {
  readonly kind: ActorKind
  readonly actorsVersion: number
  /** The manifest's name, with a suffix for codes that were replaced (`storageminer_v12_rc1`). */
  readonly name: string
}

/** Finds kind and version of code CIDs. */
export type CodeLookup = (code: Cid) => ActorCodeInfo | undefined

const LEGACY_CODE = /^fil\/(\d)\/([a-z]+)$/

/** Codes before actors v8 are texts: `fil/4/storageminer` in an identity CID. */
function legacyCode(code: Cid): ActorCodeInfo | undefined {
  const match = LEGACY_CODE.exec(fromUtf8(code.digest))
  const [, version, name] = match ?? []
  if (version === undefined || name === undefined || !isActorKind(name)) return undefined
  const generation = Number(version)
  return { kind: name, actorsVersion: generation === 1 ? 0 : generation, name }
}

/** The built-in actors of that time. @see lotus chain/actors/actor_cids.go GetActorCodeIDs */
const LEGACY_NAMES = [
  ...['account', 'cron', 'init', 'multisig', 'paymentchannel', 'reward'],
  ...['storagemarket', 'storageminer', 'storagepower', 'system', 'verifiedregistry'],
]

/** The codes of an actors version before 8, which has no manifest. */
export function legacyActors(actorsVersion: number): Manifest {
  const generation = actorsVersion === 0 ? 1 : actorsVersion
  return new Map(
    LEGACY_NAMES.map((name) => [name, createCid(CODEC_RAW, HASH_IDENTITY, utf8(`fil/${generation}/${name}`))]),
  )
}

/**
 * The lookup over all manifests of a network. Where versions share codes (v18 and the skeleton of v19), the older one
 * is named.
 */
export function codeLookup(network: Network): CodeLookup {
  const known = new Map<string, ActorCodeInfo>()
  for (const { actorsVersion, actors } of network.manifests) {
    for (const [name, code] of actors) {
      if (isActorKind(name) && !known.has(code.key)) known.set(code.key, { kind: name, actorsVersion, name })
    }
  }
  for (const [name, code] of network.buggyCodes) {
    const [kind = '', version = ''] = name.split('_v')
    if (isActorKind(kind)) known.set(code.key, { kind, actorsVersion: Number.parseInt(version, 10), name })
  }
  return (code) => known.get(code.key) ?? (code.isIdentity ? legacyCode(code) : undefined)
}
