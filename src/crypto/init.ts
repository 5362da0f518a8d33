/** Starts the WebAssembly back ends. Optional: without it, or where it fails, pure JavaScript answers. */
import { errorMessage } from '../base/errors.ts'
import { setBlsBackend } from './bls.ts'
import { engineBls } from './blsEngine.ts'
import { loadMclBls } from './blsMcl.ts'
import { setHashBackend } from './hashBackend.ts'
import { loadHashWasm } from './hashWasm.ts'
import { setSecp256k1Backend } from './secp256k1Backend.ts'
import { loadSecp256k1Wasm } from './secp256k1Wasm.ts'

/** One back end that could not be started; its pure form stays in use. */
export interface CryptoFallback {
  readonly what: 'hashes' | 'bls' | 'secp256k1'
  readonly reason: string
}

let started: Promise<readonly CryptoFallback[]> | undefined

async function start(): Promise<readonly CryptoFallback[]> {
  const fallbacks: CryptoFallback[] = []
  const attempt = async <T>(what: CryptoFallback['what'], load: () => Promise<T>, set: (loaded: T) => void) => {
    try {
      set(await load())
    } catch (error) {
      fallbacks.push({ what, reason: errorMessage(error) })
    }
  }
  await Promise.all([
    attempt('hashes', loadHashWasm, setHashBackend),
    attempt('bls', async () => engineBls(await loadMclBls()), setBlsBackend),
    attempt('secp256k1', loadSecp256k1Wasm, setSecp256k1Backend),
  ])
  return fallbacks
}

/**
 * Loads hash-wasm, mcl-wasm and libsecp256k1 (about 0.15 s in Node) and puts them in use. Calling again waits for the first call.
 * @returns what could not be loaded: empty is good
 */
export function initCrypto(): Promise<readonly CryptoFallback[]> {
  started ??= start()
  return started
}
