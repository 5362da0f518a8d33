/** A pool over a real chain, which keeps nothing, publishes nothing, and whose time the test moves. */
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Clock, Timers } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { type MessagePool, openMessagePool } from '../../src/mempool/messagePool.ts'
import { createPoolChain, poolPrices } from '../../src/mempool/poolChain.ts'
import { messageVerifier } from '../../src/mempool/verifyMessage.ts'
import { silentLog } from '../support/recordedView.ts'

export function openChainPool(
  view: ChainView,
  vm: Pick<VmHost, 'tipsetState'>,
  time: Clock & Timers,
): Promise<MessagePool> {
  return openMessagePool(
    {
      chain: createPoolChain(view, vm),
      store: new MemoryStore(),
      verifier: messageVerifier(view.network.chainId),
      minimumGas: poolPrices(view),
      publish: async () => true,
      clock: time,
      timers: time,
      logger: silentLog,
      random: () => 0.5,
    },
    { addressPrefix: 't', republishIntervalMs: 310_000 },
  )
}
