/** A node with a local chain: its accounts' keys in the wallet, the producers, their methods. */
import { BaseError, PetrelError } from '../base/errors.ts'
import { logOf } from '../base/partedLog.ts'
import { URGENCY } from '../chain/urgency.ts'
import { urgentVm } from '../chain/vm.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import { Devnet } from '../devnet/devnet.ts'
import { FinalityVotes } from '../devnet/finalityVotes.ts'
import type { DevnetKey } from '../devnet/keys.ts'
import { keepsClock } from '../devnet/options.ts'
import type { DevnetPlan } from '../devnet/plan.ts'
import { allAtHand } from '../ipld/blockFetcher.ts'
import { devnetMethods } from '../rpc/methods/devnet.ts'
import { KEY_BLS, KEY_DELEGATED, KEY_SECP256K1 } from '../wallet/keyInfo.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { logBlocks } from './blockLog.ts'
import { type NodeSettings, type PetrelNode, startNode } from './node.ts'
import type { NodeParts } from './nodeParts.ts'
import type { NodePorts } from './nodePorts.ts'

const KEY_TYPES = { secp256k1: KEY_SECP256K1, bls: KEY_BLS, delegated: KEY_DELEGATED } as const

async function importKey(wallet: Wallet, { kind, secretKey }: DevnetKey): Promise<void> {
  try {
    await wallet.keep({ type: KEY_TYPES[kind], privateKey: secretKey })
  } catch (error) {
    // Of an earlier start.
    if (!(error instanceof PetrelError) || error.code !== 'KEY_EXISTS') throw error
  }
}

/** Starts a node on a local chain. The clock runs; `stop` stops it first. */
export async function startDevnetNode(
  plan: DevnetPlan,
  parts: NodeParts,
  settings: NodeSettings,
  ports: NodePorts,
): Promise<PetrelNode & { readonly devnet: Devnet }> {
  let devnet: Devnet | undefined
  const node = await startNode(
    { ...parts, makesBlocks: { keepsClock: keepsClock(plan.options) } },
    settings,
    ports,
    ({ mempool: { pool }, networking }) => {
      devnet = new Devnet(
        plan.producers,
        {
          view: parts.view,
          vm: urgentVm(parts.vm, URGENCY.chain),
          selectMessages: async (base, ticketQuality) => (await pool.select(base, ticketQuality)) ?? [],
          ...(networking === undefined ? {} : { adopt: (tipset) => networking.adopt(tipset) }),
          flush: () => parts.meta.flush(),
          edge: parts.net?.exchange.fetcher.run ?? parts.edge,
          timers: ports.timers,
          clock: ports.clock,
          log: logOf(ports.log, 'devnet'),
        },
        plan.options,
      )
      return devnetMethods({ devnet, accounts: plan.accounts })
    },
  )
  const producers = devnet as Devnet | undefined
  if (producers === undefined) throw new BaseError('UNREACHABLE', 'Cannot start devnet: it has no producers')
  for (const account of plan.accounts) await importKey(node.wallet, account)
  const first = plan.accounts[0]
  if (first !== undefined) await ensureDefault(node.wallet, first)
  const unsubscribe = node.mempool.pool.subscribe((update) => {
    if (update.type === 'add') producers.messageArrived()
  })
  const endBlockLog = logBlocks(parts.view, logOf(ports.log, 'devnet'))
  const votes = node.f3 === undefined ? undefined : openVotes(plan, node.f3, parts, ports)
  producers.start()
  votes?.start()
  return {
    ...node,
    devnet: producers,
    stop: async () => {
      await votes?.stop()
      unsubscribe()
      endBlockLog()
      await producers.stop()
      await node.stop()
    },
  }
}

function openVotes({ producers }: DevnetPlan, f3: F3, parts: NodeParts, ports: NodePorts): FinalityVotes {
  const { view, meta, net, edge } = parts
  return new FinalityVotes(producers, {
    ...{ f3, view, store: meta, edge: net?.exchange.fetcher.run ?? edge ?? allAtHand, timers: ports.timers },
    log: logOf(ports.log, 'f3'),
  })
}

async function ensureDefault(wallet: Wallet, { address }: DevnetKey): Promise<void> {
  try {
    await wallet.defaultAddress()
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    await wallet.setDefault(address)
  }
}
