/**
 * A pool of 100,000 messages of 5,000 senders on a generated chain: taking them in (without their signatures), choosing a
 * block's, listing, a reorganisation.
 */
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { keyedAccount } from '../../scripts/generate/mainnetSize/accounts.ts'
import { openGenerated } from '../../scripts/generate/mainnetSize/chain.ts'
import { type StateSize, sizeOf } from '../../scripts/generate/mainnetSize/size.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { openMessagePool } from '../../src/mempool/messagePool.ts'
import { createPoolChain, poolPrices } from '../../src/mempool/poolChain.ts'
import type { Network } from '../../src/networks/network.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { EvmMethod } from '../../src/types/methodNumbers.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, SIGNATURE_SECP256K1 } from '../../src/types/signature.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'

const SENDERS = 5000
const EACH = 20
const SELECTIONS = 5
const DEPTH = 5
const MEGA = 1e6
/** Longer than any run. */
const NEVER_MS = 1e9

type Report = (what: string, value: number, unit: string) => void

const KINDS = [
  ['secp256k1', SIGNATURE_SECP256K1, 65],
  ['bls', SIGNATURE_BLS, 96],
  ['ethAccount', SIGNATURE_DELEGATED, 65],
] as const

function* senders(size: StateSize): Iterable<{ from: Address; type: 1 | 2 | 3; bytes: number; isEth: boolean }> {
  let left = SENDERS
  for (const [kind, type, bytes] of KINDS) {
    for (let i = 0; i < size.keyed && left > 0; i++, left--) {
      yield { from: keyedAccount(size, kind, i).address, type, bytes, isEth: kind === 'ethAccount' }
    }
  }
}

export async function measurePool(folder: string, scale: number, network: Network, report: Report): Promise<void> {
  const generated = await openGenerated(folder, network)
  const { view, vm } = generated
  const random = seeded('pool', 1)
  const head = view.store.head()
  const { stateRoot } = await vm.tipsetState(head)
  const tree = view.stateTree(stateRoot)
  const pool = await openMessagePool(
    {
      chain: createPoolChain(view, vm),
      store: new MemoryStore(),
      verifier: { messageSignatureError: () => undefined, areBlsMessagesValid: () => true },
      minimumGas: poolPrices(view),
      publish: async () => true,
      clock: systemClock,
      timers: systemTimers,
      logger: silentLog,
      random: () => random.int(1 << 30) / (1 << 30),
    },
    { addressPrefix: 't', republishIntervalMs: NEVER_MS },
  )
  try {
    await pool.setConfig({ ...pool.config(), sizeLimitHigh: 2 * SENDERS * EACH, sizeLimitLow: SENDERS * EACH })
    const messages: SignedMessage[] = []
    for (const { from, type, bytes, isEth } of senders(sizeOf(scale, 1))) {
      const id = tree.lookupId(from)
      const first = (id === undefined ? undefined : tree.getActor(id)?.nonce) ?? 0n
      for (let i = 0; i < EACH; i++) {
        const message = {
          version: 0,
          from,
          to: idAddress(BigInt(2000 + random.int(1000))),
          nonce: first + BigInt(i),
          value: 1n,
          gasLimit: 30_000_000n,
          gasFeeCap: 2_000_000_000n,
          gasPremium: 100_000n + BigInt(random.int(1_000_000)),
          method: isEth ? EvmMethod.InvokeContract : 0n,
          params: new Uint8Array(0),
        }
        messages.push({ message, signature: { type, data: random.bytes(bytes) } })
      }
    }
    globalThis.gc?.()
    const before = process.memoryUsage.rss()
    let from = performance.now()
    for (const one of messages) await pool.add(one)
    report(
      `pool: ${pool.size} messages taken, signatures not looked at`,
      (1000 * pool.size) / (performance.now() - from),
      'messages/s',
    )
    report('  more memory', (process.memoryUsage.rss() - before) / MEGA, 'MB')
    const select = async (base: Tipset, ticketQuality: number): Promise<void> => {
      from = performance.now()
      const before = process.cpuUsage()
      const chosen = await pool.select(base, ticketQuality)
      const elapsed = performance.now() - from
      const { user, system } = process.cpuUsage(before)
      const what = base === head ? '' : `, ${head.height - base.height} epochs back`
      report(`pool: selection of ${chosen?.length} messages, ticket quality ${ticketQuality}${what}`, elapsed, 'ms')
      report('  of the processor', (user + system) / 1000, 'ms')
    }
    for (let i = 0; i < SELECTIONS; i++) await select(head, i / SELECTIONS)
    // The state is another one than before, as it is for each block.
    let earlier = head
    for (let i = 0; i < 2; i++) {
      earlier = view.store.parent(earlier)
      await vm.tipsetState(earlier)
      await generated.flush()
      await select(earlier, 0.5)
    }
    await select(head, 0.5)
    from = performance.now()
    pool.pending()
    report('pool: all pending, in order', performance.now() - from, 'ms')
    let back = head
    for (let i = 0; i < DEPTH; i++) back = view.store.parent(back)
    const move = async (what: string, to: Tipset): Promise<void> => {
      await generated.flush()
      from = performance.now()
      const used = process.cpuUsage()
      view.store.setHead(to)
      report(what, performance.now() - from, 'ms')
      const { user, system } = process.cpuUsage(used)
      report('  of the processor', (user + system) / 1000, 'ms')
      report('  messages then', pool.size, '')
    }
    await move(`pool: the last ${DEPTH} tipsets are reverted`, back)
    await move('pool: and applied again', head)
  } finally {
    pool.close()
    await generated.close()
  }
}
