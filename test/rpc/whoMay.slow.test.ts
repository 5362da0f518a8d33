/** Who may do what of a node and of a signer. What is expected of Lotus' methods is the permission of Lotus' own lists. */
import { describe } from 'vitest'
import { systemClock } from '../../platform/server/clock.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { openRecorded } from '../../scripts/golden/openRecorded.ts'
import { devnetMethods } from '../../src/rpc/methods/devnet.ts'
import { signerMethods } from '../../src/rpc/methods/signer.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { PolicyGuard, parsePolicy } from '../../src/wallet/signingPolicy.ts'
import { Wallet } from '../../src/wallet/wallet.ts'
import { devnetNode } from '../support/devnetNode.ts'
import { missingShared, readSharedJson, sharedPath } from '../support/shared.ts'
import { whoMay } from './whoMay.ts'

const missing = missingShared('data/golden/nv17/chain.car.zst')

/** Rows that Lotus does not have, each with what it must need. */
const OWN: Readonly<Record<string, string>> = {
  ChainGetTransfers: 'read',
  ChainGetTransfersSince: 'read',
  ChainListTransfers: 'read',
  ChainListMessages: 'read',
  ChainListLogs: 'read',
  MpoolExplain: 'read',
  AuthNewToken: 'admin',
  AuthRevoke: 'admin',
  LightStatus: 'read',
  SyncPresumed: 'read',
  DevnetMine: 'write',
  DevnetTravel: 'write',
  DevnetStart: 'write',
  DevnetStop: 'write',
  DevnetAccounts: 'read',
}
/** @see lotus api/api_wallet.go Wallet: `perm:admin` each */
const SIGNER = ['New', 'Has', 'List', 'Sign', 'Export', 'Import', 'Delete'].map((name) => `Wallet${name}`)

describe.skipIf(missing !== undefined)('of a recorded chain', () => {
  const lotus =
    missing === undefined ? readSharedJson<{ name: string; perm: string }[]>('reference/rpc-methods.json') : []
  whoMay('a node that makes blocks', {
    open: async () => {
      const { node, close } = await openRecorded(sharedPath('data/golden/nv17'))
      const { devnet, plan } = devnetNode()
      return { rows: [...node.table.rows, ...devnetMethods({ devnet, accounts: plan.accounts })], close }
    },
    needed: { ...OWN, ...Object.fromEntries(lotus.map(({ name, perm }) => [name, perm])) },
    served: [
      ...Object.keys(OWN).map((name) => `Filecoin.${name}`),
      ...['eth_chainId', 'eth_sendRawTransaction', 'eth_subscribe', 'net_version', 'web3_clientVersion'],
      ...['trace_block', 'rpc.discover', 'Node.ChainHead'],
    ],
  })
})

whoMay('a signer', {
  open: async () => {
    const policy = parsePolicy({ keys: {}, chainId: 1, manage: true })
    const wallet = new Wallet(new KeyStore(new MemorySecretStore()), {
      ...{ random: systemRandom, addressPrefix: 't', chainId: policy.chainId },
    })
    const log = { signing: () => undefined, refused: () => undefined }
    const rows = signerMethods({ wallet, policy, guard: new PolicyGuard(policy, []), log, clock: systemClock })
    return { rows, close: async () => undefined }
  },
  needed: Object.fromEntries(SIGNER.map((name) => [name, 'admin'])),
  served: SIGNER.map((name) => `Filecoin.${name}`),
})
