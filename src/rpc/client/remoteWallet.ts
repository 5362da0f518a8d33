/**
 * Lotus' wallet interface: what a node asks the process that holds its keys, and what that process serves.
 * @see lotus api/api_wallet.go; chain/wallet/remotewallet/remote.go
 */
import { bytesOrEmpty, type Codec, nullable, struct, text } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type Signature, signature } from '../../types/signature.ts'
import { type KeyInfo, keyInfo, keyType } from '../../wallet/keyInfo.ts'
import type { RemoteKeys, SigningMeta } from '../../wallet/remoteKeys.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { walletHas, walletList } from '../signatures/wallet.ts'
import { createClient } from './client.ts'
import { RpcClientError } from './errors.ts'
import type { RpcTransport } from './transport.ts'

const meta: Codec<SigningMeta> = struct<SigningMeta>('api.MsgMeta', [
  ['type', 'Type', text],
  ['extra', 'Extra', nullable(bytesOrEmpty)],
])

const signer = param('signer', address)

const admin = { versions: ['v0'], perm: 'admin' } as const

/** The signatures, by what they are for. All need a token with all permissions, as in Lotus. */
export const REMOTE_WALLET: {
  readonly newKey: CallSignature<readonly [Param<string>], Address>
  readonly has: CallSignature<readonly [Param<Address>], boolean>
  readonly list: CallSignature<readonly [], Address[]>
  readonly sign: CallSignature<readonly [Param<Address>, Param<Uint8Array>, Param<SigningMeta>], Signature>
  readonly export: CallSignature<readonly [Param<Address>], KeyInfo>
  readonly import: CallSignature<readonly [Param<KeyInfo>], Address>
  readonly delete: CallSignature<readonly [Param<Address>], void>
} = {
  newKey: callSignature({ ...admin, name: 'WalletNew', params: [param('keyType', keyType)], result: address }),
  has: { ...walletHas, ...admin },
  list: { ...walletList, ...admin },
  sign: callSignature({
    ...admin,
    name: 'WalletSign',
    params: [signer, param('toSign', bytesOrEmpty), param('meta', meta)],
    result: signature,
  }),
  export: callSignature({ ...admin, name: 'WalletExport', params: [signer], result: keyInfo }),
  import: callSignature({ ...admin, name: 'WalletImport', params: [param('keyInfo', keyInfo)], result: address }),
  delete: callSignature({ ...admin, name: 'WalletDelete', params: [signer], result: nothing }),
}

/** Says who did not answer: the caller's caller asked a node. */
function named(transport: RpcTransport): RpcTransport {
  return {
    subscribe: (...channel) => transport.subscribe(...channel),
    close: () => transport.close(),
    request: async (...call) => {
      try {
        return await transport.request(...call)
      } catch (error) {
        if (!(error instanceof RpcClientError) || error.code === 'REMOTE') throw error
        throw new RpcClientError(error.code, `the remote wallet does not answer: ${error.message}`, error.info, {
          cause: error,
        })
      }
    },
  }
}

/** Keys behind a transport to `/rpc/v0` of the process that holds them. @param addressPrefix - how addresses are written */
export function remoteWallet(transport: RpcTransport, addressPrefix: 'f' | 't'): RemoteKeys {
  return createClient(named(transport), REMOTE_WALLET, { addressPrefix })
}
