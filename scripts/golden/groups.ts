/** Methods of the recorded chains by what a node needs to answer them (shared/data/golden/README.md). */
export const GROUPS = ['core', 'execution', 'actors', 'eth'] as const
export type Group = (typeof GROUPS)[number]

const EXECUTION: ReadonlySet<string> = new Set(['StateCompute', 'StateReplay'])
const ACTORS =
  /^(StateReadState|StateMiner.*|StateMarket.*|StateListMiners|StateCirculatingSupply|StateVMCirculatingSupplyInternal|StateVerifiedRegistryRootKey|StateGetNetworkParams|MinerGetBaseInfo|StateChangedActors|StateSectorGetInfo)$/
const ETH = /^(eth_.*|trace_.*|Eth.*|GetActorEventsRaw)$/

/** The group of a full method name. */
export function groupOf(method: string): Group {
  const name = method.replace(/^(Filecoin|Node)\./, '')
  if (EXECUTION.has(name)) return 'execution'
  if (ACTORS.test(name)) return 'actors'
  return ETH.test(name) ? 'eth' : 'core'
}
