/** Files of a home that others may have written: where its node is and with which token it is asked; the names of its keys. */
import { validateHeaderValue } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findEndpoint } from '../../platform/cli/rpcClient.ts'
import { SecretFiles } from '../../platform/server/secretFiles.ts'
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import type { FuzzTarget } from './fuzzTarget.ts'

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJBbGxvdyI6WyJyZWFkIl19.P1iSlyLK-Kek_b'
const MULTIADDR = '/ip4/127.0.0.1/tcp/1234/http'

/** The first line is the token's file, the others the address'; without a line's end all is `FULLNODE_API_INFO`. */
async function findNode(input: Uint8Array): Promise<void> {
  const text = fromUtf8(input)
  const end = text.indexOf('\n')
  const [token, api] = [text.slice(0, end), text.slice(end + 1)]
  const io = {
    env: end < 0 ? { FULLNODE_API_INFO: text } : {},
    userHome: '/home',
    readFile: (path: string) => Promise.resolve(path.endsWith('token') ? token : api),
  }
  const endpoint = await findEndpoint(io as never, undefined)
  const { protocol, host } = new URL(`${endpoint.url}/rpc/v1`)
  if (!/^https?:$/.test(protocol) || host === '') throw new Error(`no address: ${endpoint.url}`)
  const named = /^\s*\/[^/]*\/([^/]*)\//.exec(api)?.[1]
  if (
    end >= 0 &&
    named !== undefined &&
    !host.includes(new URL(`http://${named.includes(':') ? `[${named}]` : named}`).host)
  )
    throw new Error(`${host} is not ${named}`)
  if (endpoint.token !== undefined) validateHeaderValue('authorization', `Bearer ${endpoint.token}`)
}

/** What is found is an address, and what is sent there can be sent. */
export const apiFiles: FuzzTarget = {
  seeds: () => [
    utf8(`${TOKEN}\n${MULTIADDR}\n`),
    utf8(`${TOKEN}\n/ip6/::1/tcp/1234/http`),
    utf8(`${TOKEN}\n/dns/node.example/tcp/443/https`),
    utf8(`${TOKEN}:${MULTIADDR}`),
    utf8('https://node.example/rpc/v1'),
  ],
  run: findNode,
}

const KEY = utf8('{"Type":"secp256k1","PrivateKey":"AAAA"}')
const noFolder = new SecretFiles(join(tmpdir(), 'petrel-fuzz-no-keystore'))

/** A line is a file's name. Each key that is listed can be opened under the name that it has in the list. */
export const keystoreNames: FuzzTarget = {
  // `default` and `auth-jwt-private`.
  seeds: () => [utf8('MRSWMYLVNR2A'), utf8('MRSWMYLVNR2A\nMF2XI2BNNJ3XILLQOJUXMYLUMU')],
  run: async (input) => {
    const secrets = new MemorySecretStore()
    for (const file of fromUtf8(input).split('\n')) {
      if ((await noFolder.read(file)) !== undefined) throw new Error('something in no folder')
      await secrets.create(file, KEY)
    }
    const keys = new KeyStore(secrets)
    for (const name of await keys.list())
      if ((await keys.find(name)) === undefined) throw new Error(`${name} is not there`)
  },
}
