/** The chain's first Ethereum account, out of the node's wallet: of a local chain, whose keys are nobody's secret. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** What both scripts need: the address of the interface and the private key. */
export interface LocalAccount {
  readonly url: string
  /** `0x` and 64 digits. */
  readonly key: `0x${string}`
}

/** @param home - folder of the node; default `$PETREL_HOME`, else `~/.petrel` */
export async function localAccount(
  home = process.env.PETREL_HOME ?? join(homedir(), '.petrel'),
): Promise<LocalAccount> {
  const [, , host, , port] = readFileSync(join(home, 'api'), 'utf8').trim().split('/')
  const token = readFileSync(join(home, 'token'), 'utf8').trim()
  const url = `http://${host}:${port}/rpc/v1`
  const ask = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params }),
    })
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
    if (error !== undefined) throw new Error(error.message)
    return result
  }
  const account = (await ask<string[]>('WalletList')).find((address) => address.startsWith('t410f'))
  if (account === undefined) throw new Error('the wallet has no Ethereum account (t410f…)')
  const { PrivateKey } = await ask<{ PrivateKey: string }>('WalletExport', account)
  return { url, key: `0x${Buffer.from(PrivateKey, 'base64').toString('hex')}` }
}
