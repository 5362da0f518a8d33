/** What kind of actor an address has: names of built-in actors by code CID, as the node tells them for its network version. */
import type { Cid, TipsetKey } from 'petrel'
import type { MonitorNode } from '../methods.ts'

/** Kind of a contract. */
export const CONTRACT = 'contract (EVM)'

const NAMES: Readonly<Record<string, string>> = {
  account: 'account',
  cron: 'cron',
  datacap: 'data cap',
  eam: 'address manager of Ethereum',
  ethaccount: 'Ethereum account',
  evm: CONTRACT,
  init: 'init',
  multisig: 'multisig',
  paymentchannel: 'payment channel',
  placeholder: 'placeholder: nothing is there yet',
  reward: 'reward',
  storagemarket: 'storage market',
  storageminer: 'storage provider',
  storagepower: 'storage power',
  system: 'system',
  verifiedregistry: 'verified registry',
}

/** @returns undefined when the node does not know the code */
export async function actorKind(node: MonitorNode, code: Cid, at: TipsetKey): Promise<string | undefined> {
  const codes = await node.StateActorCodeCIDs(await node.StateNetworkVersion(at))
  for (const [name, cid] of codes) if (cid.equals(code)) return NAMES[name] ?? name
  return undefined
}
