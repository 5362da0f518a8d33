/**
 * A provider object for existing JSON-RPC clients: `request({method, params})` and events, the shape that Ethereum's
 * libraries take. It speaks any method, `eth_…` and `Filecoin.…`.
 * @see EIP-1193
 */

import type { Json } from '../../src/codec/jsonText.ts'
import { RpcClientError } from '../../src/rpc/client/errors.ts'
import type { RpcTransport } from '../../src/rpc/client/transport.ts'
import { toJson } from './plainJson.ts'

/** Events of a provider. */
export interface ProviderEvents {
  readonly connect: { readonly chainId: string }
  readonly disconnect: ProviderError
  readonly message: { readonly type: string; readonly data: unknown }
  readonly chainChanged: string
}

type Listeners = { [E in keyof ProviderEvents]: Set<(value: ProviderEvents[E]) => void> }

/** What `request` throws: `code` is the node's number, or one of EIP-1193. */
export class ProviderError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.name = 'ProviderError'
    this.code = code
    this.data = data
  }
}

/** Text of an address of Ethereum's kind. */
const DELEGATED = /^[ft]410f/

/** EIP-1193's numbers. */
const UNAUTHORIZED = 4100
const DISCONNECTED = 4900

/** One client's provider over one transport. */
export class PetrelProvider {
  readonly #transport: RpcTransport
  readonly #listeners: Listeners = {
    connect: new Set(),
    disconnect: new Set(),
    message: new Set(),
    chainChanged: new Set(),
  }

  constructor(transport: RpcTransport) {
    this.#transport = transport
  }

  /** @throws ProviderError */
  async request({ method, params }: { readonly method: string; readonly params?: unknown }): Promise<unknown> {
    try {
      if (method === 'eth_accounts' || method === 'eth_requestAccounts') return await this.#accounts()
      return await this.#transport.request(method, toJson(params ?? []))
    } catch (error) {
      throw asProviderError(error)
    }
  }

  /** Ethereum addresses (`0x…`) whose keys the tab's wallet has. A node's own `eth_accounts` is empty, as Lotus' is. */
  async #accounts(): Promise<Json[]> {
    const transport = this.#transport
    const all = (await transport.request('Filecoin.WalletList', [])) as string[]
    const accounts: Json[] = []
    for (const address of all.filter((text) => DELEGATED.test(text))) {
      if (await transport.request('Filecoin.WalletHas', [address])) {
        accounts.push(await transport.request('Filecoin.FilecoinAddressToEthAddress', [address]))
      }
    }
    return accounts
  }

  on<E extends keyof ProviderEvents>(event: E, listener: (value: ProviderEvents[E]) => void): this {
    this.#listeners[event].add(listener)
    return this
  }

  removeListener<E extends keyof ProviderEvents>(event: E, listener: (value: ProviderEvents[E]) => void): this {
    this.#listeners[event].delete(listener)
    return this
  }

  /** Tells the listeners. Of {@link startPetrel}. */
  emit<E extends keyof ProviderEvents>(event: E, value: ProviderEvents[E]): void {
    for (const listener of [...this.#listeners[event]]) listener(value)
  }

  /** A call of the node. */
  notified(method: string, params: Json): void {
    this.emit('message', { type: method, data: params })
  }
}

/** Any failure in the provider's form. */
function asProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error
  if (!(error instanceof RpcClientError)) return new ProviderError(DISCONNECTED, String(error))
  if (error.code === 'REMOTE') return new ProviderError(Number(error.info.code), error.message, error.info.data)
  return new ProviderError(error.code === 'UNAUTHORIZED' ? UNAUTHORIZED : DISCONNECTED, error.message)
}
