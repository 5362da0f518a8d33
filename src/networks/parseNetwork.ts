/**
 * Reads a network file: the `network.json` that `--network` takes and a local chain writes (docs/following.md). Fields that the
 * node does not need are ignored.
 */
import { errorMessage } from '../base/errors.ts'
import { type Cid, parseCid } from '../codec/cid.ts'
import type { Json } from '../codec/jsonText.ts'
import { NetworkError } from './errors.ts'
import type { ActorsManifest, Beacon, DrandBeacon, Network, ProtocolParameters, Upgrade } from './network.ts'

/** A value of the file with the path that names it in errors. */
class Node {
  readonly path: string
  readonly value: Json | undefined

  constructor(path: string, value: Json | undefined) {
    this.path = path
    this.value = value
  }

  #wrong(expected: string): NetworkError {
    return new NetworkError('INVALID_NETWORK', `Cannot read network: ${this.path || 'file'} must be ${expected}`, {
      path: this.path,
    })
  }

  get isNull(): boolean {
    return this.value === undefined || this.value === null
  }

  get object(): { [key: string]: Json } {
    const { value } = this
    if (value === undefined || value === null || typeof value !== 'object' || Array.isArray(value))
      throw this.#wrong('an object')
    return value
  }

  at(key: string): Node {
    return new Node(this.path === '' ? key : `${this.path}.${key}`, this.object[key])
  }

  get text(): string {
    if (typeof this.value !== 'string') throw this.#wrong('a text')
    return this.value
  }

  get textOrNull(): string | null {
    return this.isNull ? null : this.text
  }

  get integer(): number {
    if (typeof this.value !== 'number' || !Number.isSafeInteger(this.value)) throw this.#wrong('a whole number')
    return this.value
  }

  get integerOrNull(): number | null {
    return this.isNull ? null : this.integer
  }

  /** A whole number as text. */
  get bigInteger(): bigint {
    if (!/^\d{1,78}$/.test(this.text)) throw this.#wrong('the digits of a whole number')
    return BigInt(this.text)
  }

  get bool(): boolean {
    if (typeof this.value !== 'boolean') throw this.#wrong('true or false')
    return this.value
  }

  get cid(): Cid {
    try {
      return parseCid(this.text)
    } catch (cause) {
      throw new NetworkError(
        'INVALID_NETWORK',
        `Cannot read network: ${this.path}: ${errorMessage(cause)}`,
        {},
        { cause },
      )
    }
  }

  get cidOrNull(): Cid | null {
    return this.isNull ? null : this.cid
  }

  get list(): Node[] {
    if (this.isNull) return []
    if (!Array.isArray(this.value)) throw this.#wrong('a list')
    return this.value.map((item, i) => new Node(`${this.path}[${i}]`, item))
  }

  get cids(): Map<string, Cid> {
    const out = new Map<string, Cid>()
    if (!this.isNull) for (const key of Object.keys(this.object)) out.set(key, this.at(key).cid)
    return out
  }
}

function upgradeOf(node: Node): Upgrade {
  return {
    name: node.at('name').text,
    height: node.at('height').integer,
    networkVersion: node.at('networkVersion').integerOrNull,
    actorsVersion: node.at('actorsVersion').integerOrNull,
    migration: node.at('migration').textOrNull,
  }
}

function drandOf(node: Node): DrandBeacon {
  return {
    startEpoch: node.at('startEpoch').integer,
    name: node.at('name').text,
    chained: node.at('chained').bool,
    schemeId: node.at('schemeId').text,
    chainHash: node.at('chainHash').text,
    publicKey: node.at('publicKey').text,
    periodSeconds: node.at('periodSeconds').integer,
    genesisTime: node.at('genesisTime').integer,
    httpEndpoints: node.at('httpEndpoints').list.map((endpoint) => endpoint.text),
  }
}

function beaconOf(node: Node): Beacon {
  const beacon = node.at('beacon')
  if (!beacon.isNull) {
    const kind = beacon.at('kind').text
    if (kind !== 'mock') throw new NetworkError('NOT_SUPPORTED', `not supported: beacon of kind ${kind}`)
    return { kind: 'mock' }
  }
  return { kind: 'drand', schedule: node.at('drand').list.map(drandOf) }
}

function proofsOf(node: Node): 'verify' | 'accept' {
  const kind = node.at('proofs').textOrNull ?? 'verify'
  if (kind !== 'verify' && kind !== 'accept') throw new NetworkError('NOT_SUPPORTED', `not supported: proofs ${kind}`)
  return kind
}

function actorsOf(node: Node): 'wasm' | 'native' {
  const kind = node.at('actors').textOrNull ?? 'wasm'
  if (kind !== 'wasm' && kind !== 'native') throw new NetworkError('NOT_SUPPORTED', `not supported: actors ${kind}`)
  return kind
}

function prefixOf(node: Node): 'f' | 't' {
  const prefix = node.at('addressPrefix').text
  if (prefix !== 'f' && prefix !== 't') {
    throw new NetworkError('INVALID_NETWORK', `Cannot read network: addressPrefix must be f or t, got ${prefix}`)
  }
  return prefix
}

function protocolOf(node: Node): ProtocolParameters {
  const number = (key: string): number => node.at(key).integer
  return {
    chainFinality: number('chainFinality'),
    winningPoStLookbackUpToNv3: node.at('winningPoStLookback').at('nvUpTo3').integer,
    winningPoStLookback: node.at('winningPoStLookback').at('after').integer,
    initialBaseFee: number('initialBaseFee'),
    breezeGasTampingDuration: number('breezeGasTampingDuration'),
    maxHeightDrift: number('maxHeightDrift'),
    initialRewardBalanceFil: number('initialRewardBalanceFil'),
    initialFilReservedFil: number('initialFilReservedFil'),
    teepInitialFilReservedFil: number('teepInitialFilReservedFil'),
    tuktukPowerRampDurationEpochs: number('tuktukPowerRampDurationEpochs'),
    consensusMinerMinPowerBytes: node.at('consensusMinerMinPowerBytes').bigInteger,
    preCommitChallengeDelay: number('preCommitChallengeDelay'),
    safeHeightDistance: number('safeHeightDistance'),
  }
}

function manifestOf(node: Node): ActorsManifest {
  return {
    actorsVersion: node.at('actorsVersion').integer,
    manifestCid: node.at('manifestCid').cid,
    actors: node.at('actors').cids,
  }
}

/**
 * The network that a file's JSON describes.
 * @throws NetworkError `INVALID_NETWORK`, `NOT_SUPPORTED`
 */
export function parseNetwork(json: Json): Network {
  const file = new Node('', json)
  const genesis = file.at('genesis')
  const f3 = file.at('f3')
  const whitelisted = file.at('whitelistedBlock')
  const debugging = file.at('actorDebugging')
  return {
    name: file.at('name').text,
    networkName: file.at('networkName').textOrNull,
    genesisCid: genesis.at('cid').cidOrNull,
    genesisTimestamp: genesis.at('timestamp').integerOrNull,
    genesisNetworkVersion: genesis.at('networkVersion').integer,
    genesisActorsVersion: genesis.at('actorsVersion').integer,
    blockDelaySecs: file.at('blockDelaySecs').integer,
    propagationDelaySecs: file.at('propagationDelaySecs').integer,
    equivocationDelaySecs: file.at('equivocationDelaySecs').integer,
    allowableClockDriftSecs: file.at('allowableClockDriftSecs').integer,
    chainId: file.at('chainId').integer,
    addressPrefix: prefixOf(file),
    upgrades: file.at('upgrades').list.map(upgradeOf),
    beacon: beaconOf(file),
    proofs: proofsOf(file),
    actors: actorsOf(file),
    actorDebugging: debugging.isNull ? false : debugging.bool,
    bootstrap: file.at('bootstrap').list.map((address) => address.text),
    bootstrapPeerThreshold: file.at('bootstrapPeerThreshold').integer,
    f3: f3.isNull
      ? { enabled: false, manifest: null }
      : { enabled: f3.at('enabled').bool, manifest: f3.at('manifest').value ?? null },
    protocol: protocolOf(file.at('protocol')),
    whitelistedBlock: whitelisted.isNull ? null : whitelisted.at('cid').cid,
    manifests: file.at('builtinActors').at('manifests').list.map(manifestOf),
    buggyCodes: file.at('buggyCodes').cids,
  }
}
