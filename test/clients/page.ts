/** The flows in a page, over the EIP-1193 provider of its node. */
import { BrowserProvider } from 'ethers'
import { custom } from 'viem'
import { ethersFlow } from './ethersFlow.ts'
import { type FlowDeps, INVOKE_EVM } from './flow.ts'
import { viemFlow } from './viemFlow.ts'

/** What `startPetrel` gives, as far as it is used here. */
interface Tab {
  readonly provider: { request(one: { readonly method: string; readonly params?: unknown }): Promise<unknown> }
  request(method: string, params?: readonly unknown[]): Promise<unknown>
}

/** @returns the steps that were done, last `done` or what failed */
export async function runFlows(tab: Tab): Promise<string[]> {
  const steps: string[] = []
  const deps: FlowDeps = {
    step: (name) => steps.push(name),
    fund: async (address, attoFil) => {
      const To = await tab.request('EthAddressToFilecoinAddress', [address])
      const From = await tab.request('WalletDefaultAddress')
      const message = { To, From, Value: attoFil.toString(), Method: INVOKE_EVM }
      const { CID } = (await tab.request('MpoolPushMessage', [message, null])) as { CID: { '/': string } }
      await tab.request('StateWaitMsg', [CID, 0, -1, true])
    },
  }
  try {
    const provider = new BrowserProvider(tab.provider, undefined, { cacheTimeout: -1 })
    provider.pollingInterval = 200
    await ethersFlow(provider, deps)
    provider.destroy()
    await viemFlow(custom(tab.provider), deps)
    steps.push('done')
  } catch (error) {
    steps.push(String((error as Error).stack))
  }
  return steps
}
