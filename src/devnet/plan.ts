/** All that follows from the options of a local chain: network, keys, genesis. Nothing is written yet. */
import type { GenesisTemplate } from '../actors/genesis/template.ts'
import { actorsVersionFor, manifestFor, type Network, networkVersionAt } from '../networks/network.ts'
import { idAddress } from '../types/address.ts'
import type { ActorId, TokenAmount } from '../types/scalars.ts'
import type { Producer } from './blocks.ts'
import { DevnetError } from './errors.ts'
import { type AccountKind, accountKey, type DevnetKey, genesisTicket, producerKey } from './keys.ts'
import { devnetNetwork } from './network.ts'
import type { DevnetOptions } from './options.ts'

const FIRST_MINER_ID: ActorId = 1000n
const KINDS: readonly AccountKind[] = ['secp256k1', 'bls', 'delegated']

/** A funded account with its key. */
export interface FundedAccount extends DevnetKey {
  /** AttoFIL at genesis. */
  readonly balance: TokenAmount
}

/** A local chain before it exists. */
export interface DevnetPlan {
  readonly options: DevnetOptions
  readonly network: Network
  readonly producers: readonly Producer[]
  /** For the wallet: the funded accounts first, then the producers' worker keys. */
  readonly accounts: readonly FundedAccount[]
  /** The genesis' contents. @param timestamp - Unix time, seconds */
  genesis(timestamp: number): GenesisTemplate
}

/**
 * @param base - the built-in devnet
 * @throws DevnetError `OPTIONS_INVALID` when the network's data lack the actors of its version
 */
export function createDevnetPlan(options: DevnetOptions, base: Network): DevnetPlan {
  const network = devnetNetwork(base, options)
  const actorsVersion = actorsVersionFor(networkVersionAt(network, 1))
  const manifest = manifestFor(network, actorsVersion)
  if (manifest === undefined) {
    throw new DevnetError('OPTIONS_INVALID', `Cannot start devnet: no manifest of actors version ${actorsVersion}`)
  }
  const { seed, miners, accountsPerKind, balance } = options
  const workers = Array.from({ length: miners }, (_, index) => producerKey(seed, index))
  const accounts: FundedAccount[] = [
    ...KINDS.flatMap((kind) => Array.from({ length: accountsPerKind }, (_, index) => accountKey(seed, kind, index))),
    ...workers,
  ].map((key) => ({ ...key, balance }))
  return {
    options,
    network,
    accounts,
    producers: workers
      .map(({ secretKey }, index) => ({
        miner: idAddress(FIRST_MINER_ID + BigInt(index)),
        workerKey: secretKey,
      }))
      .filter((_, index) => options.produce?.includes(index) ?? true),
    genesis: (timestamp) => ({
      networkName: options.networkName,
      timestamp,
      manifest,
      protocol: network.protocol,
      accounts: accounts.map(({ address, balance: amount }) => ({ address, balance: amount })),
      miners: workers.map(({ address }) => ({ worker: address })),
      verifregRoot: accountKey(`${seed}|verifreg`, 'secp256k1', 0).address,
      verifier: accountKey(`${seed}|verifier`, 'bls', 0).address,
      reserveSigner: accountKey(`${seed}|reserve`, 'secp256k1', 0).address,
      ticket: genesisTicket(seed),
    }),
  }
}
