/** What is fuzzed: everything that reads bytes of somebody else's. A target takes an input, or refuses it with a {@link PetrelError}. */

import { createHash } from 'node:crypto'
import { readPairs } from '../../platform/server/backupPairs.ts'
import { parseConfig } from '../../platform/server/homeConfig.ts'
import { carBlocks, carBytes } from '../../src/archive/car.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { decompressZstd } from '../../src/archive/zstd.ts'
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { asLink, dagJson, readAny } from '../../src/codec/anyCbor.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { cidFromBytes, parseCid } from '../../src/codec/cid.ts'
import { bytes as byteString, type Codec, decode, encode } from '../../src/codec/description.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { decodeRlp, encodeRlp } from '../../src/codec/rlp.ts'
import { finalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { powerTable } from '../../src/consensus/f3/powerTable.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { Amt, amtOf } from '../../src/ipld/amt.ts'
import { bitFieldFromBytes, bitFieldOf, bitFieldToBytes } from '../../src/ipld/bitfield.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { scanLinks } from '../../src/ipld/links.ts'
import { parseCheckpoint } from '../../src/light/checkpoint.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { decodeMessage } from '../../src/p2p/bitswap/messages.ts'
import { certRequest, certResponseHeader } from '../../src/p2p/certExchange/messages.ts'
import { exchangeRequest, exchangeResponse } from '../../src/p2p/chainExchange/messages.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import { blockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { readBlockMsg } from '../../src/p2p/gossip/readBlockMsg.ts'
import { helloMessage, latencyMessage } from '../../src/p2p/helloMessage.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { parseBody, parseFrame } from '../../src/rpc/request.ts'
import { Tokens } from '../../src/rpc/tokens.ts'
import { actorV5 } from '../../src/types/actor.ts'
import { addressFromBytes, idAddress, parseAddress } from '../../src/types/address.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { actorEvent } from '../../src/types/event.ts'
import { message } from '../../src/types/message.ts'
import { parseTransaction } from '../../src/types/parseEthTransaction.ts'
import { receipt } from '../../src/types/receipt.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { keyInfo } from '../../src/wallet/keyInfo.ts'
import { isSealed, Sealer } from '../../src/wallet/sealing.ts'
import { configToml } from './configToml.ts'
import { f3Data } from './f3Data.ts'
import { f3Manifest } from './f3Manifest.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { gossipRpc } from './gossipRpc.ts'
import { apiFiles, keystoreNames } from './homeFiles.ts'
import { HOSTILE_ROOT, HostileBlocks } from './hostileBlocks.ts'
import { hostStreams } from './hostStreams.ts'
import { remoteArchive, snapshotLists } from './httpAnswers.ts'
import { lightAnswers } from './lightAnswers.ts'
import { peerStreams } from './peerStreams.ts'
import { portMessages } from './portMessages.ts'
import { relayMessages } from './relayMessages.ts'
import { rpcHandlers } from './rpcHandlers.ts'
import { rpcParams } from './rpcParams.ts'
import { rtcMessages } from './rtcMessages.ts'
import { archives, CERTIFICATE, FULL_HEADER, networkText, packed, SIGNED, transactions } from './seeds.ts'
import { signedLog } from './signedLog.ts'
import { signingPolicy } from './signingPolicy.ts'
import { socketBytes } from './socketBytes.ts'
import { amtChanges, hamtChanges, hamtDifference } from './treeChanges.ts'
import { unixFile } from './unixFile.ts'

const MAX_UNPACKED = 4 * 1024 * 1024
const MAX_STREAM = 4096
const hex = (text: string): Uint8Array => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
const cidBytes = hex(`0171a0e40220${'ab'.repeat(32)}`)
const cid = cidFromBytes(cidBytes)

const tokens = new Tokens({
  secret: new Uint8Array(32).fill(7),
  store: new MemoryStore(),
  clock: { nowMs: () => 0, monotonicMs: () => 0 },
  random: { fill: (out) => void out.fill(1) },
})
const claimsOf = (token: string): string => token.slice(0, token.lastIndexOf('.'))
const TOKEN = tokens.issueUnique(['read', 'write'], 3600)

/** What is decoded is encoded again, and that is decoded to the same. */
function wire<T>(codec: Codec<T>, ...seeds: readonly (string | T)[]): FuzzTarget {
  return {
    seeds: () => seeds.map((seed) => (typeof seed === 'string' ? hex(seed) : encode(codec, seed))),
    run: (input) => {
      const again = encode(codec, decode(codec, input))
      const twice = encode(codec, decode(codec, again))
      if (again.length !== twice.length || again.some((byte, i) => byte !== twice[i])) throw new Error('not stable')
    },
  }
}

/** More entries than the input can hold mean a tree that names itself; the walk is ended as its callers end it. */
const MAX_ENTRIES = 5000

const text = (input: Uint8Array): string => fromUtf8(input)

const SECRET = 'a secret'
const sealer = new Sealer('passphrase', { fill: (out) => void out.fill(1) }, { n: 2, r: 1, p: 1 })
const SEALED = sealer.seal('wallet-a', utf8(SECRET))

/** A stream of a peer in pieces, read as the protocols do: items and lengths in turn. The first byte says how long the pieces are. */
async function readStream(input: Uint8Array): Promise<void> {
  const [piece = 0] = input
  let at = 1
  const stream = {
    read: () => {
      const part = input.slice(at, at + 1 + piece)
      at += part.length
      return Promise.resolve(part.length === 0 ? undefined : part)
    },
  } as ByteStream
  const reader = new StreamReader(stream, MAX_STREAM)
  for (let turn = 0; !(await reader.atEnd()); turn++) {
    if (turn % 3 === 0) {
      const item = await reader.cborItem(MAX_STREAM / 2)
      if (item.length === 0 || item.length > MAX_STREAM / 2) throw new Error(`an item of ${item.length} bytes`)
    } else if (turn % 3 === 1) await reader.cborHead()
    else await reader.bytes(await reader.varint())
  }
}

/** By name. */
export const TARGETS: Readonly<Record<string, FuzzTarget>> = {
  message: wire(message, '8a00420065420066004100190400410041000040', SIGNED.message),
  signedMessage: wire(signedMessage, `828a0042006542006600410019040041004100004058420${'1'.repeat(131)}`, SIGNED),
  blockHeader: wire(blockHeader, FULL_HEADER, { ...FULL_HEADER, blsAggregate: null, blockSig: null }),
  receipt: wire(receipt, '8400400a f6'.replaceAll(' ', ''), '83004000'),
  event: wire(actorEvent, '82186481840361611855 4101'.replaceAll(' ', '')),
  actor: wire(
    actorV5,
    `85d82a582700${'0171a0e40220'}${'ab'.repeat(32)}d82a582700${'0171a0e40220'}${'ab'.repeat(32)}00420001f6`,
  ),
  certificate: wire(finalityCertificate, CERTIFICATE, { ...CERTIFICATE, powerTableDelta: [] }),
  powerTable: wire(powerTable, '8183184841014102'),
  exchangeRequest: wire(exchangeRequest, `8381d82a582700${'0171a0e40220'}${'ab'.repeat(32)}0103`),
  exchangeResponse: wire(exchangeResponse, '83006080', '8300608182808480808080'),
  hello: wire(
    helloMessage,
    `8481d82a582700${'0171a0e40220'}${'ab'.repeat(32)}004100d82a582700${'0171a0e40220'}${'ab'.repeat(32)}`,
  ),
  latency: wire(latencyMessage, '820102'),
  certRequest: wire(certRequest, '83000af5'),
  certResponse: wire(certResponseHeader, '820080'),
  blockMsg: {
    ...wire(blockMsg, { header: FULL_HEADER, blsMessages: [cid], secpkMessages: [cid, cid] }),
    run: (input) => {
      const read = readBlockMsg(input)
      if ('verdict' in read) throw new PetrelError('REFUSED', read.reason)
    },
  },
  keyInfo: {
    ...wire(keyInfo),
    run: (input) => void keyInfo.fromJson(parseJson(text(input)), { addressPrefix: 't' }),
    seeds: () => [utf8('{"Type":"secp256k1","PrivateKey":"AAAA"}')],
  },
  sealed: {
    seeds: () => [utf8('petrel'), SEALED],
    // Whatever is opened under the passphrase is what was sealed.
    run: (input) => {
      if (isSealed(input) && fromUtf8(sealer.open('wallet-a', input)) !== SECRET) throw new Error('another secret')
    },
  },
  stream: {
    seeds: () => [hex('08830001f6050568656c6c6f'), hex('01a203626869040582f5f4')],
    run: readStream,
  },
  homeConfig: {
    seeds: () => [utf8('{"network":"calibnet","snapshot":"/chain.car","validate":"execute"}')],
    run: (input) => void parseConfig(text(input), 'config.json'),
  },
  amtChanges,
  apiFiles,
  configToml,
  f3Data,
  f3Manifest,
  gossipRpc,
  hamtChanges,
  hamtDifference,
  hostStreams,
  keystoreNames,
  lightAnswers,
  peerStreams,
  portMessages,
  relayMessages,
  remoteArchive,
  rtcMessages,
  signedLog,
  signingPolicy,
  snapshotLists,
  socketBytes,
  unixFile,
  token: {
    seeds: () => [utf8(TOKEN)],
    // Nobody but the one who has the secret says what a token allows. Its signature alone may be spelled in several ways.
    run: (input) => {
      const token = text(input)
      if (tokens.verify(token) !== undefined && claimsOf(token) !== claimsOf(TOKEN)) {
        throw new Error('a token that was not issued is valid')
      }
    },
  },
  bitswap: {
    seeds: () => [hex('0a0c0a0a0a0608011001180120012801'), hex('1a0812067f0102030405')],
    run: (input) => void decodeMessage(input),
  },
  cid: { seeds: () => [cidBytes, utf8(cid.toString())], run: cidOf },
  address: {
    seeds: () => [
      idAddress(1000).bytes,
      hex(`01${'22'.repeat(20)}`),
      hex(`040a${'33'.repeat(20)}`),
      utf8('f01000'),
      utf8('t410fkkld55ioe7qg24wvt7fu6pbknb56ht7ptloy'),
    ],
    run: (input) => {
      if ((input[0] ?? 0) < 32) addressFromBytes(input).toString('f')
      else parseAddress(text(input))
    },
  },
  links: {
    seeds: () => [hex(`82d82a582700${'0171a0e40220'}${'ab'.repeat(32)}a16161f6`)],
    run: (input) => void scanLinks(input),
  },
  anyCbor: {
    seeds: () => [hex('83016161a1616bf5'), hex(`d82a582700${'0171a0e40220'}${'ab'.repeat(32)}`)],
    run: (input) => {
      const value = readAny(input)
      asLink(value)
      dagJson(value)
    },
  },
  rlp: { seeds: () => [hex('c88363617483646f67')], run: (input) => void encodeRlp(decodeRlp(input)) },
  ethTransaction: {
    seeds: transactions,
    run: (input) => void parseTransaction(input, 1n),
  },
  bitField: {
    seeds: () => [bitFieldToBytes(bitFieldOf([1, 2, 3, 100, 5000]))],
    run: (input) => {
      const field = bitFieldFromBytes(input)
      bitFieldToBytes(field)
    },
  },
  hamt: {
    seeds: () => [
      packed((store) => {
        const tree = Hamt.empty(store, byteString)
        for (let i = 0; i < 60; i++) tree.set(Uint8Array.of(i), Uint8Array.of(i, i))
        return tree.flush()
      }),
    ],
    run: (input) => {
      let left = MAX_ENTRIES
      const tree = Hamt.load(new HostileBlocks(input), HOSTILE_ROOT, byteString)
      tree.get(utf8('key'))
      for (const _ of tree.entries()) if (left-- === 0) break
    },
  },
  amt: {
    seeds: () => [
      packed((store) =>
        amtOf(
          store,
          byteString,
          Array.from({ length: 60 }, (_, i) => Uint8Array.of(i)),
        ),
      ),
    ],
    run: (input) => {
      let left = MAX_ENTRIES
      const tree = Amt.load(new HostileBlocks(input), HOSTILE_ROOT, byteString)
      tree.get(7)
      for (const _ of tree.entries()) if (left-- === 0) break
    },
  },
  car: {
    seeds: () => [
      carBytes(
        [cid],
        [1, 2, 3].map((n) => [blockCid(Uint8Array.of(n)), Uint8Array.of(n)] as const),
      ),
    ],
    run: (input) => {
      for (const _ of carBlocks(memorySource(input)));
    },
  },
  snapshot: {
    seeds: archives,
    run: (input) => {
      const store = openArchive(memorySource(input), { maxMemoryBytes: MAX_UNPACKED })
      for (const root of store.roots) store.get(root)
    },
  },
  zstd: {
    seeds: () => [
      hex('28b52ffd0400010000998ddb51'),
      hex('28b52ffd240509000068656c6c6f'),
      hex('28b52ffd20ff4d00001061610100fb2b8005'),
    ],
    run: (input) => void decompressZstd(memorySource(input), MAX_UNPACKED),
  },
  json: { seeds: () => [utf8('{"a":[1,-2.5e3,"\\u00e9",null,true]}')], run: (input) => void parseJson(text(input)) },
  rpcBody: {
    seeds: () => [
      utf8('{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainHead","params":[]}'),
      utf8('[{"id":"a","method":"eth_call","params":[{},"latest"]}]'),
    ],
    run: (input) => void parseBody(text(input)),
  },
  rpcHandlers,
  rpcParams,
  rpcFrame: {
    seeds: () => [utf8('{"jsonrpc":"2.0","id":1,"method":"xrpc.cancel","params":[1]}')],
    run: (input) => void parseFrame(text(input)),
  },
  checkpoint: {
    seeds: () => [
      utf8(
        '{"NetworkName":"filecoin","Instance":5,"PowerTable":{"/":"bafy2bzacecmda75ovposbdateg7eyhwij65zklgyijgcjwynlklmqazpwlhba"},"Date":"2026-11-01"}',
      ),
    ],
    run: (input) => void parseCheckpoint(parseJson(text(input))),
  },
  // A pair of keys, under its sum.
  backup: {
    seeds: () => [
      hex(
        '829f824161420102824162417aff5820'.concat(
          createHash('sha256').update(hex('9f824161420102824162417aff')).digest('hex'),
        ),
      ),
    ],
    run: (input) => void readPairs(input, 'a.backup'),
  },
  network: {
    seeds: () => [networkText()],
    run: (input) => void parseNetwork(parseJson(text(input))),
  },
}

function cidOf(input: Uint8Array): void {
  if ((input[0] ?? 0) < 32) cidFromBytes(input)
  else parseCid(text(input))
}
