/**
 * What `signer` runs: keys behind Lotus' wallet interface, under a policy, with a log of everything signed. No chain, no peers.
 * A policy that is changed counts after a restart.
 */
import { join } from 'node:path'
import { Closers } from '../../src/base/closers.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { untilAborted } from '../../src/base/waiting.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { signerMethods } from '../../src/rpc/methods/signer.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { loadApiSecret, Tokens } from '../../src/rpc/tokens.ts'
import type { Address } from '../../src/types/address.ts'
import { PolicyGuard, parsePolicy, type SigningPolicy } from '../../src/wallet/signingPolicy.ts'
import { Wallet } from '../../src/wallet/wallet.ts'
import { apiMultiaddr, apiUrl } from './apiAddress.ts'
import { assertPortFree } from './assertPortFree.ts'
import { readKeys } from './checkKeys.ts'
import { PlatformError } from './errors.ts'
import { Home, readTextFile, writeFile } from './home.ts'
import { startServer } from './httpServer.ts'
import { type HostRuntime, loadCrypto, openKeystore } from './nodeRunner.ts'
import { line, type ProgramIo } from './programIo.ts'
import { SecretFiles } from './secretFiles.ts'
import { SignedLog } from './signedLog.ts'

/** What `signer` was told. */
export interface SignerOptions {
  readonly repo: string
  readonly host: string
  readonly port: number
  /** Path of the policy, JSON. */
  readonly policy: string
  readonly passphrase: string | undefined
}

const CLOSE_GRACE_MS = 2000
/** In the home: one object a line. */
const SIGNED_LOG = 'signed.jsonl'

/** @throws PlatformError CONFIG_INVALID; WalletError POLICY_INVALID */
function readPolicy(path: string): SigningPolicy {
  const text = readTextFile(path)
  if (text === undefined)
    throw new PlatformError('CONFIG_INVALID', `Cannot start: there is no policy at ${path}`, { path })
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new PlatformError('CONFIG_INVALID', `Cannot read ${path}: ${errorMessage(cause)}`, { path }, { cause })
  }
  return parsePolicy(json)
}

/** Serves until the signal comes. */
export async function runSigner(options: SignerOptions, io: ProgramIo, runtime: HostRuntime): Promise<void> {
  const { ports } = runtime
  const policy = readPolicy(options.policy)
  await assertPortFree(options.host, options.port)
  const home = new Home(options.repo)
  home.acquire()
  const closers = new Closers()
  closers.add(() => home.release())
  try {
    await loadCrypto(ports)
    const keystore = await openKeystore(new SecretFiles(home.keystore), options.passphrase, ports)
    const wallet = new Wallet(keystore, { random: ports.random, addressPrefix: 'f', chainId: policy.chainId })
    // Not first when one is to sign: the others go on.
    const list = async (): Promise<Address[]> => (await wallet.list()).filter(({ key }) => policy.keys.has(key))
    const { faults } = await readKeys({ list, export: (address) => wallet.export(address) })
    for (const fault of faults) line(io, `WARNING: ${fault}`)
    const path = join(home.path, SIGNED_LOG)
    const log = new SignedLog(path, io)
    closers.add(() => log.close())
    const guard = new PolicyGuard(policy, log.signed)
    const { secret } = await loadApiSecret(keystore, ports.random)
    const tokens = new Tokens({ ...ports, secret, store: new MemoryStore() })
    const table = createMethodTable(signerMethods({ wallet, policy, guard, log, clock: ports.clock }))
    const engine = new RpcEngine({ table, json: { addressPrefix: 'f' }, log: ports.log })
    const handler = new HttpHandler(engine, { verifier: tokens })
    const { host, port } = options
    const server = await startServer({ handler, engine, log: ports.log, host, port, closeGraceMs: CLOSE_GRACE_MS })
    closers.add(() => server.close())
    const token = tokens.issueAdmin()
    const address = apiMultiaddr(server)
    writeFile(home.token, token)
    writeFile(home.api, address)
    line(io, `signer on ${apiUrl(server)}/rpc/v0, ${policy.keys.size} keys in the policy, log in ${path}`)
    line(io, `for --remote-wallet, or RemoteBackend of Lotus: the token in ${home.token}, a colon, ${address}`)
    await untilAborted(io.signal)
  } finally {
    await closers.close()
  }
}
