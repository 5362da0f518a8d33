/** A call whose gas nothing bounds, which makes blocks all the time: it ends before it fills the host's memory. */
import { beforeAll, expect, it } from 'vitest'
import { MAX_CALL_BYTES } from '../../src/chain/limits.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { devnetNode, signedBy } from '../support/devnetNode.ts'

beforeAll(async () => void (await initCrypto()))

const LOOPS = 77n
const BLOCK = 2 ** 20

it('is ended with a clear error, and by its name', async () => {
  const code = manifestFor(builtinNetwork('devnet'), 18)?.actors.get('account')
  let made = 0
  const node = devnetNode({
    actors: (own) => (cid) => {
      const found = own(cid)
      if (found === undefined || code?.equals(cid) !== true) return found
      return {
        invoke: (kernel, params) => {
          if (kernel.messageContext().method !== LOOPS) return found.invoke(kernel, params)
          for (const data = new Uint8Array(BLOCK); ; made++) kernel.blockCreate(CODEC_RAW, data)
        },
      }
    },
  })
  const account = node.plan.accounts[0] as FundedAccount
  const { message } = signedBy(account, { to: account.address, value: 0n, method: LOOPS })
  const tipset = node.store.head()
  await expect(node.vm.call(message, tipset)).rejects.toMatchObject({ code: 'HOST_MEMORY_EXHAUSTED' })
  expect(made).toBe(MAX_CALL_BYTES / BLOCK)
  made = 0
  await expect(node.vm.compute(tipset, 1, [{ ...message, gasLimit: 10n ** 15n, gasFeeCap: 0n }])).rejects.toMatchObject(
    {
      code: 'HOST_MEMORY_EXHAUSTED',
    },
  )
  expect(made).toBe(MAX_CALL_BYTES / BLOCK)
}, 60_000)
