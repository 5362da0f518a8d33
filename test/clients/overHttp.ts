/** The flows of clients that reach a node over HTTP and WebSocket. */
import { JsonRpcProvider, WebSocketProvider } from 'ethers'
import { http, webSocket } from 'viem'
import { RpcClient } from '../support/rpcClient.ts'
import { ethersFlow } from './ethersFlow.ts'
import { type FlowDeps, INVOKE_EVM } from './flow.ts'
import { hardhatFlow } from './hardhatFlow.ts'
import { viemFlow } from './viemFlow.ts'
import { web3Flow } from './web3Flow.ts'

const POLL_MS = 200

type Flow = (url: string, token: string, step: (name: string) => void) => Promise<void>

function depsOf(url: string, token: string, step: (name: string) => void): FlowDeps {
  const node = new RpcClient(url, token)
  return {
    step,
    fund: async (address, attoFil) => {
      const To = await node.call('EthAddressToFilecoinAddress', address)
      const From = await node.call('WalletDefaultAddress')
      const message = { To, From, Value: attoFil.toString(), Method: INVOKE_EVM }
      const { CID } = await node.call('MpoolPushMessage', message, null)
      await node.call('StateWaitMsg', CID, 0, -1, true)
    },
  }
}

const socketOf = (url: string): string => `${url.replace(/^http/, 'ws')}/rpc/v1`

/** By name of the client. */
export const FLOWS: Readonly<Record<string, Flow>> = {
  ethers: async (url, token, step) => {
    const provider = new JsonRpcProvider(`${url}/rpc/v1`, undefined, { pollingInterval: POLL_MS, cacheTimeout: -1 })
    await ethersFlow(provider, depsOf(url, token, step), () => new WebSocketProvider(socketOf(url)))
    provider.destroy()
  },
  viem: (url, token, step) =>
    viemFlow(http(`${url}/rpc/v1`, { batch: true }), depsOf(url, token, step), webSocket(socketOf(url))),
  web3: (url, token, step) => web3Flow(`${url}/rpc/v1`, depsOf(url, token, step), socketOf(url)),
  hardhat: (url, token, step) => hardhatFlow(`${url}/rpc/v1`, depsOf(url, token, step)),
}
