/** The recorded chain with finality certificates as a source has it: certificates up to one, and a head above. */
import { writeGenesisCar } from '../../src/chain/genesisCar.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { type FinalityCertificate, finalizedKey } from '../../src/consensus/f3/certificate.ts'
import type { LightCheckpoint } from '../../src/light/checkpoint.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { decodedCertificates, openF3 } from '../consensus/f3/support.ts'
import { type EndpointData, tableJson } from './endpoint.ts'

export interface World {
  readonly data: EndpointData
  readonly all: readonly FinalityCertificate[]
  readonly tipsetOf: (certificate: FinalityCertificate) => Tipset
  readonly network: ReturnType<typeof openF3>['view']['network']
  readonly genesisCar: Uint8Array
}

let verified: { readonly chain: ReturnType<typeof openF3>; readonly all: readonly FinalityCertificate[] } | undefined

/** The recorded chain with all its certificates, verified once. */
export function recorded(): NonNullable<typeof verified> {
  if (verified !== undefined) return verified
  const chain = openF3()
  chain.f3.start()
  const all = decodedCertificates()
  chain.f3.importCertificates(all)
  verified = { chain, all }
  return verified
}

/** Certificates up to `last`; the head some epochs above what the last one makes final. */
export function world(last: number): World {
  const {
    all,
    chain: { view, f3 },
  } = recorded()
  const { store, network } = view
  const tipsetOf = (certificate: FinalityCertificate): Tipset => store.tipset(finalizedKey(certificate))
  const final = tipsetOf(all[last] as FinalityCertificate)
  const headHeight = Math.min(store.head().height, final.height + 4)
  const data: EndpointData = {
    blocks: store.blocks,
    certificates: all.slice(0, last + 1),
    tableAt: (instance) => tableJson([...f3.powerTable(instance)]),
    head: store.tipsetByHeight(headHeight, undefined, 'previous'),
  }
  const genesis = store.genesis().key[0]
  if (genesis === undefined) throw new Error('no genesis')
  return { data, all, tipsetOf, network, genesisCar: writeGenesisCar(store.blocks, genesis) }
}

/** F3's own beginning. */
export const CHECKPOINT: LightCheckpoint = {
  f3Network: 'golden-f3',
  instance: 0,
  powerTable: parseCid('bafy2bzaced5erafovfncdbqtbqt6ri7xu5ferys5qf7ptxka6wevwuheoed2e'),
  date: '',
}

/** One bit is another. */
export const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => (i === 40 ? byte ^ 1 : byte))
