/** Options that there are: one with another name would be an option that nobody hears. */
import { DEVNET_DEFAULTS } from '../../src/devnet/options.ts'
import { BrowserError } from './errors.ts'
import type { FollowerKind, LocalChainKind, NodeKind, PetrelOptions, SnapshotKind } from './nodeOptions.ts'

/** Every name of a type, which the compiler counts. */
type Names<T> = Readonly<Record<keyof Required<T>, true>>

const OPTIONS: Names<PetrelOptions> = {
  node: true,
  name: true,
  passphrase: true,
  version: true,
  workerUrl: true,
  vmWorkerUrl: true,
  maxMemoryBytes: true,
  maxDiskBytes: true,
  persist: true,
  log: true,
}

const PROOFS = { proofs: true, keyGateways: true } as const
const LOCAL: Names<LocalChainKind> = { kind: true, devnet: true, bundles: true }
const FOLLOW: Names<FollowerKind> = {
  ...{ ...PROOFS, kind: true, network: true, genesis: true, mode: true, sources: true },
  ...{ pushToSources: true, checkpoint: true, bootstrap: true, syncPeers: true, bundles: true },
}
const SNAPSHOT: Names<SnapshotKind> = { ...PROOFS, kind: true, network: true, snapshot: true, bundles: true }
const KINDS: Readonly<Record<NodeKind['kind'], Readonly<Record<string, true>>>> = {
  local: LOCAL,
  follow: FOLLOW,
  snapshot: SNAPSHOT,
}

function check(what: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const message = `Cannot start: nothing in ${what} is called ${JSON.stringify(name)}; there are ${known.join(', ')}`
    throw new BrowserError('OPTIONS_INVALID', message, { name })
  }
}

/** @throws BrowserError `OPTIONS_INVALID`, which names what there is */
export function checkOptions(options: PetrelOptions): void {
  check('the options', options, Object.keys(OPTIONS))
  const { node } = options
  const known = KINDS[node.kind] as Readonly<Record<string, true>> | undefined
  if (known === undefined) check('node.kind', { [node.kind]: true }, Object.keys(KINDS))
  else check(`node of kind ${node.kind}`, node, Object.keys(known))
  if (node.kind === 'local')
    check(
      'node.devnet',
      node.devnet ?? {},
      Object.keys(DEVNET_DEFAULTS).filter((name) => name !== 'produce'),
    )
}
