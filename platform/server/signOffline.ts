/** What `sign` runs: one signature with the keys of a home, without a node. */
import type { Json } from '../../src/codec/jsonText.ts'
import { message as messageCodec } from '../../src/types/message.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { Wallet } from '../../src/wallet/wallet.ts'
import { Home } from './home.ts'
import { type HostRuntime, openKeystore } from './nodeRunner.ts'
import { SecretFiles } from './secretFiles.ts'

/** What is to be signed, and with which keys. */
export interface OfflineSignOptions {
  readonly repo: string
  readonly passphrase: string | undefined
  /** JSON of the message. */
  readonly message: Json
  readonly chainId: number
}

/** @returns JSON of the signed message */
export async function signOffline(options: OfflineSignOptions, { ports }: HostRuntime): Promise<Json> {
  const context = { addressPrefix: 'f' } as const
  const home = new Home(options.repo)
  home.acquire()
  try {
    const keystore = await openKeystore(new SecretFiles(home.keystore), options.passphrase, ports)
    const wallet = new Wallet(keystore, { ...context, random: ports.random, chainId: BigInt(options.chainId) })
    const unsigned = messageCodec.fromJson(options.message, context)
    return signedMessage.toJson(await wallet.signMessage(unsigned.from, unsigned), context)
  } finally {
    home.release()
  }
}
