/**
 * The machine in a Web Worker: the entry that {@link startVmWorker} starts. It reads nothing by itself: blocks and actors'
 * code come from the page's node, each checked there.
 */
import type { BytePort, Logger } from '../../src/base/ports.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { serveVm } from '../../src/execution/vmServer.ts'
import { actorsCode } from '../../src/node/actorsCode.ts'
import { proofsOf } from '../../src/node/proofs.ts'
import type { ProofKeys } from '../../src/proofs/keys/keyName.ts'
import { resultPrinter } from '../../src/rpc/types/execution.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { machineKeys } from './proofFiles.ts'

/** What the page sends before anything else. */
export interface VmWorkerStart {
  readonly mode: 'wasm' | 'native' | 'auto'
  /** Where keys of storage proofs are fetched from; undefined: receipts decide. */
  readonly keyGateways?: readonly string[] | undefined
}

/**
 * Calls that lie deeper keep their memory in the host: each memory of an instance reserves 8 GiB of the 1 TiB that
 * Chromium gives all of them together.
 */
const HOST_MEMORY_FROM = 64

const scope = globalThis as unknown as DedicatedWorkerGlobalScope

function workerPort(): BytePort {
  return {
    post: (message) => scope.postMessage(message, [message.buffer as ArrayBuffer]),
    onMessage: (listener) => {
      scope.onmessage = ({ data }: MessageEvent<Uint8Array>) => listener(data)
    },
  }
}

const log: Logger = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }

async function keysFrom(gateways: readonly string[] | undefined): Promise<ProofKeys | undefined> {
  return gateways === undefined ? undefined : machineKeys(log, gateways)
}

scope.onmessage = ({ data }: MessageEvent<VmWorkerStart>) => {
  // Messages wait in the worker's own queue until the listener is there: this handler keeps those that come before.
  const held: Uint8Array[] = []
  scope.onmessage = (event: MessageEvent<Uint8Array>) => void held.push(event.data)
  const started = Promise.all([keysFrom(data.keyGateways), initCrypto()]).then(([keys]) => {
    const port = workerPort()
    const listening: BytePort = {
      post: port.post,
      onMessage: (listener) => {
        port.onMessage(listener)
        for (const message of held.splice(0)) listener(message)
      },
    }
    serveVm(listening, {
      blocks: undefined,
      log,
      createHost: (store, network) => {
        const genesis = firstBlock(store.genesis()).timestamp
        const view = new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, genesis, epoch) })
        const engine = { hostMemoryFrom: HOST_MEMORY_FROM }
        const codeLoaders = actorsCode({ network, blocks: store.blocks, bundles: undefined, mode: data.mode, engine })
        return new LocalVmHost({ view, proofs: proofsOf(network, keys), codeLoaders, print: resultPrinter(network) })
      },
    })
  })
  started.catch((error: unknown) => {
    // A rejection tells nobody: only what is thrown from a task of its own reaches the owner's `onerror`.
    setTimeout(() => {
      throw error
    })
  })
}
