/**
 * Streams of a peer at each protocol of a node: hello, chain exchange, bitswap, certificates; and the answers of a peer that the node
 * asks by the last three. The first byte chooses which, the second how the bytes are cut; a peer says them and ends, or is silent then.
 */
import { concatBytes } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { whenAborted } from '../../src/base/waiting.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { finalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { startBitswap } from '../../src/p2p/bitswap/bitswap.ts'
import { BITSWAP_PROTOCOLS, encodeMessage } from '../../src/p2p/bitswap/messages.ts'
import { CertClient } from '../../src/p2p/certExchange/client.ts'
import { certExchangeProtocol, certRequest, certResponseHeader } from '../../src/p2p/certExchange/messages.ts'
import { serveCertExchange } from '../../src/p2p/certExchange/server.ts'
import { ExchangeClient } from '../../src/p2p/chainExchange/client.ts'
import { CHAIN_EXCHANGE_PROTOCOL, exchangeRequest, exchangeResponse } from '../../src/p2p/chainExchange/messages.ts'
import { serveChainExchange } from '../../src/p2p/chainExchange/server.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import { HELLO_PROTOCOL, startHello } from '../../src/p2p/hello.ts'
import { helloMessage, latencyMessage } from '../../src/p2p/helloMessage.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { type BlockHeader, blockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, type Tipset, type TipsetKey } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { steadyRandom } from '../p2p/exchangeNodes.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { MemoryNetwork } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { CERTIFICATE } from './seeds.ts'

const F3 = 'fuzz'
const BITSWAP = BITSWAP_PROTOCOLS[0] as string
const CERTS = certExchangeProtocol(F3)
/** What is asked of, and what is asked for: an even first byte asks the node, an odd one answers it. */
const PROTOCOLS = [HELLO_PROTOCOL, CHAIN_EXCHANGE_PROTOCOL, BITSWAP, CERTS] as const
/** No answer of so small a chain is longer. */
const MOST_ANSWERED = 64 * 1024

/** Four tipsets of a block. */
class SmallChain {
  readonly blocks = new MemoryBlockstore()
  readonly #headers = new Map<string, BlockHeader>()
  readonly #tipsets: Tipset[] = []

  constructor() {
    for (let height = 0; height < 4; height++) {
      const tipset = createTipset([header(this.#tipsets.at(-1), height, 0)])
      for (const block of tipset.blocks) {
        putBlock(this.blocks, encode(blockHeader, block))
        this.#headers.set(headerCid(block).key, block)
      }
      this.#tipsets.push(tipset)
    }
  }

  get top(): Tipset {
    return this.#tipsets.at(-1) as Tipset
  }

  get genesisCid(): Cid {
    return (this.#tipsets[0] as Tipset).key[0] as Cid
  }

  readonly header = (cid: Cid): BlockHeader => {
    const found = this.#headers.get(cid.key)
    if (found === undefined) throw new P2pError('MALFORMED', 'no such block')
    return found
  }

  readonly tipset = (key: TipsetKey): Tipset => createTipset(key.map(this.header))
}

const chain = (): SmallChain => (kept ??= new SmallChain())
let kept: SmallChain | undefined

/** The bytes, in pieces of so many. */
async function say(stream: ByteStream, bytes: Uint8Array, piece: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += piece) await stream.write(bytes.subarray(at, at + piece))
}

async function heard(stream: ByteStream): Promise<number> {
  let count = 0
  for (let part = await stream.read(); part !== undefined; part = await stream.read()) count += part.length
  return count
}

let way = ''

/** @throws Error for what must not be */
async function run(input: Uint8Array): Promise<void> {
  const [choice = 0, cut = 0] = input
  const bytes = input.subarray(2)
  const [protocol, asks, ends] = [PROTOCOLS[(choice >> 1) % 4] as string, choice % 2 === 0, cut < 128]
  const piece = 1 + (cut % 64)
  const time = new VirtualTime()
  const network = new MemoryNetwork(time)
  const [node, peer] = [network.addNode('node'), network.addNode('peer')]
  const deps = { links: node.links, clock: time, timers: time, log: silentLog }
  const { blocks, top, genesisCid } = chain()
  const certificates = {
    pendingInstance: () => 4,
    certificateCbor: (instance: number) => (instance === 3 ? encode(finalityCertificate, CERTIFICATE) : undefined),
    *findPowerTable() {
      yield
      return []
    },
  }
  const told: number[] = []
  const helloChain = { head: () => top, weight: () => 7n, genesisCid }
  const hello = startHello({ ...deps, chain: helloChain, onHead: (_, __, height) => void told.push(height) })
  const exchange = serveChainExchange({ ...deps, chain: chain() })
  const bitswap = startBitswap({ ...deps, blocks })
  const certs = serveCertExchange({ ...deps, f3Network: F3, certificates })
  const says = async (stream: ByteStream): Promise<number> => {
    await say(stream, bytes, piece)
    if (ends) await stream.closeWrite()
    return await heard(stream)
  }
  let answered = 0
  const asked = new AbortController()
  if (!asks) peer.links.handle(protocol, async (_, stream) => void (await says(stream)))
  network.connect('node', 'peer')
  await time.settle()
  const refusals: string[] = []
  const refused = (error: unknown): undefined => {
    if (!(error instanceof PetrelError)) throw error
    refusals.push(`${String(error.code)} ${error.message}`)
  }
  let work: Promise<unknown>
  if (asks) {
    const open = async (): Promise<void> => {
      const stream = await peer.links.open('node', [protocol], asked.signal)
      // Bitswap's are open for as long as both like.
      if (protocol === BITSWAP) whenAborted(asked.signal, () => stream.abort(new P2pError('TIMEOUT', 'given up')))
      answered += await says(stream)
    }
    work = open().catch(refused)
  } else if (protocol === CHAIN_EXCHANGE_PROTOCOL) {
    const client = new ExchangeClient({ ...deps, random: steadyRandom })
    work = client.fetch({ head: top.key, length: 4, messages: true }, { signal: asked.signal }).catch(refused)
  } else if (protocol === BITSWAP) work = bitswap.source.fetch([top.key[0] as Cid], asked.signal).catch(refused)
  else if (protocol === CERTS) {
    const client = new CertClient({ ...deps, f3Network: F3 })
    const question = { firstInstance: 3, limit: 1, includePowerTable: true }
    work = client.request('peer', question, asked.signal).catch(refused)
  } else work = Promise.resolve()
  // An hour: whatever is waited for has been given up.
  await time.advance(3_600_000)
  asked.abort(new P2pError('TIMEOUT', 'given up'))
  await time.until(work)
  if (answered > MOST_ANSWERED) throw new Error(`${answered} bytes were answered`)
  for (const service of [hello, exchange, bitswap, certs]) service.stop()
  await time.advance(120_000)
  if (node.openStreams > 0) throw new Error(`${node.openStreams} streams stay open`)
  const reported = node.reports.map(({ what }) => `${what.fault} ${what.reason}`)
  way = [protocol, asks, told.length, 32 - Math.clz32(answered), ...refusals, ...reported]
    .join(' ')
    .replace(/\d+/g, '#')
}

/** A choice, how it is cut, and the bytes. */
function seed(protocol: string, asks: boolean, bytes: Uint8Array): Uint8Array {
  const at = (PROTOCOLS as readonly string[]).indexOf(protocol)
  return concatBytes(Uint8Array.of(at * 2 + (asks ? 0 : 1), 63), bytes)
}

/** Neither side throws anything but a refusal, nothing stays open, no answer is long. */
export const peerStreams: FuzzTarget = {
  seeds: () => {
    const { top, genesisCid } = chain()
    const block = top.blocks[0] as BlockHeader
    const heaviest = {
      heaviestTipSet: top.key,
      heaviestTipSetHeight: 3,
      heaviestTipSetWeight: 3n,
      genesisHash: genesisCid,
    }
    const want = { cid: headerCid(block), type: 'block', cancel: false, sendDontHave: true } as const
    const wants = encodeMessage({ wants: [want], blocks: [], presences: [] }, BITSWAP)
    const has = { cid: headerCid(block), data: encode(blockHeader, block) }
    const gives = encodeMessage({ wants: [], blocks: [has as never], presences: [] }, BITSWAP)
    const request = { head: top.key, length: 3n, options: 3n }
    const response = { status: 0, errorMessage: '', chain: [{ blocks: [block], messages: null }] }
    const certs = { firstInstance: 3n, limit: 1n, includePowerTable: true }
    return [
      seed(HELLO_PROTOCOL, true, encode(helloMessage, heaviest)),
      seed(HELLO_PROTOCOL, false, encode(latencyMessage, { tArrival: 1n, tSent: 2n })),
      seed(CHAIN_EXCHANGE_PROTOCOL, true, encode(exchangeRequest, request)),
      seed(CHAIN_EXCHANGE_PROTOCOL, false, encode(exchangeResponse, response as never)),
      seed(BITSWAP, true, wants),
      seed(BITSWAP, false, gives),
      seed(CERTS, true, encode(certRequest, certs)),
      seed(
        CERTS,
        false,
        concatBytes(
          encode(certResponseHeader, decode(certResponseHeader, Uint8Array.of(0x82, 4, 0x80))),
          encode(finalityCertificate, CERTIFICATE),
        ),
      ),
    ]
  },
  run,
  way: () => way,
}
