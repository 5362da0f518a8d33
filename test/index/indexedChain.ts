/** A local chain with something in it to index. The same from each process: keys, beacons and tickets come from a seed. */

import { decode, encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { execParams, execReturn } from '../../src/state/params/init.ts'
import { constructorParams as multisigConstructorParams, proposeParams } from '../../src/state/params/multisig.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { keyAddress } from '../mempool/fakes.ts'
import { type DevnetNode, devnetNode, receiptsOf, signedBy } from '../support/devnetNode.ts'

export const FIL = 10n ** 18n

/** What the chain's messages are about. */
export interface Exchange {
  readonly node: DevnetNode
  /** A multisig of the second account, which it pays others from. */
  readonly multisig: { readonly id: Address; readonly robust: Address }
  /** Addresses that nobody had before they got something. */
  readonly customers: readonly Address[]
  /** A tipset with a deposit for a customer (in turn), a payment by the multisig to another, and a send that fails. */
  mine(options?: { readonly nullRounds?: number }): Promise<Tipset>
}

const CUSTOMERS = 4

/** A chain whose multisig is there. @param networkName - part of the genesis */
export async function exchangeChain(networkName = 'index-test'): Promise<Exchange> {
  await initCrypto()
  const node = devnetNode({ miners: 2, networkName })
  const [bank, owner] = node.plan.accounts
  if (bank === undefined || owner === undefined) throw new Error('no accounts')
  /** After the head: what a reorganisation took away is not counted. */
  const nonceOf = async ({ address }: FundedAccount): Promise<bigint> => {
    const { stateRoot } = await node.vm.tipsetState(node.store.head())
    const tree = node.view.stateTree(stateRoot)
    return tree.getActor(tree.lookupId(address) ?? 0n)?.nonce ?? 0n
  }
  const code = manifestFor(node.plan.network, 18)?.actors.get('multisig')
  if (code === undefined) throw new Error('no multisig')
  const constructorParams = encode(multisigConstructorParams, {
    signers: [owner.address],
    numApprovalsThreshold: 1n,
    unlockDuration: 0n,
    startEpoch: 0n,
  })
  const params = encode(execParams, { codeCid: code, constructorParams })
  node.pending.push(signedBy(owner, { to: idAddress(1n), value: 1000n * FIL, method: 2n, params }))
  const tipset = await node.devnet.mine()
  node.pending.length = 0
  const created = decode(execReturn, (await receiptsOf(node, tipset))[0]?.return ?? new Uint8Array(0))
  const customers = Array.from({ length: CUSTOMERS }, (_, i) => keyAddress(100 + i))
  let round = 0
  return {
    node,
    multisig: { id: created.idAddress, robust: created.robustAddress },
    customers,
    mine: async (options = {}) => {
      const deposited = customers[round % CUSTOMERS] as Address
      const paid = customers[(round + 1) % CUSTOMERS] as Address
      const propose = encode(proposeParams, { to: paid, value: 2n * FIL, method: 0n, params: new Uint8Array(0) })
      const [nonce, ownerNonce] = [await nonceOf(bank), await nonceOf(owner)]
      node.pending.push(
        signedBy(bank, { to: deposited, value: BigInt(1 + round) * FIL, nonce }),
        // More than there is.
        signedBy(bank, { to: deposited, value: 10n ** 30n, nonce: nonce + 1n }),
        signedBy(owner, { to: created.robustAddress, value: 0n, nonce: ownerNonce, method: 2n, params: propose }),
      )
      round++
      const mined = await node.devnet.mine(1, options)
      node.pending.length = 0
      return mined
    },
  }
}

/**
 * A chain of so many tipsets, about, with a reorganisation in the midst.
 * @param mined - awaited after each
 */
export async function growTo(
  epochs: number,
  began: (exchange: Exchange) => void = () => undefined,
  mined: () => Promise<void> = async () => undefined,
): Promise<Exchange> {
  const exchange = await exchangeChain()
  began(exchange)
  for (let i = 0; i < epochs; i++) {
    await exchange.mine()
    if (i === epochs / 2) await exchange.node.devnet.mine(0, { fork: 2 })
    await mined()
  }
  return exchange
}
