/** Signatures of messages on the recorded chains: every one verifies, and the wallets' keys make it again. */
import { beforeAll, describe, expect, it } from 'vitest'
import { fromBase64, fromHex, toHex } from '../../src/base/bytes.ts'
import type { Json } from '../../src/codec/description.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { blake2b256 } from '../../src/crypto/blake2b.ts'
import * as bls from '../../src/crypto/bls.ts'
import { keccak256 } from '../../src/crypto/hashes.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import * as secp256k1 from '../../src/crypto/secp256k1.ts'
import { blsAddress, secp256k1Address } from '../../src/types/address.ts'
import { ethAddressToAddress } from '../../src/types/ethAddress.ts'
import {
  ethAddressOfPublicKey,
  recoverableSignature,
  signedTransactionBytes,
  transactionHash,
  transactionOfSignedMessage,
  transactionSender,
  transactionToSignedMessage,
  unsignedTransactionBytes,
} from '../../src/types/ethTransaction.ts'
import { type Message, messageCid, message as messageCodec } from '../../src/types/message.ts'
import { parseTransaction } from '../../src/types/parseEthTransaction.ts'
import { type Signature, signature as signatureCodec } from '../../src/types/signature.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { authenticateMessage, signingBytes, verifySignature } from '../../src/types/verifySignature.ts'
import { type Row, readSharedZstd, recordedCalls } from '../support/recorded.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'

const context = { addressPrefix: 't' } as const

interface Block {
  readonly bls: Message[]
  readonly secp: SignedMessage[]
  readonly aggregate: Signature | undefined
}

function blocksOf(chain: string): Block[] {
  const calls = recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.ChainGetBlockMessages', 'Filecoin.ChainGetBlock'])
  const headers = new Map<string, Row>()
  const cidOf = (params: Json[]): string => (params[0] as Row)['/'] as string
  for (const call of calls) {
    if (call.method === 'Filecoin.ChainGetBlock' && call.response.result !== undefined) {
      headers.set(cidOf(call.params), call.response.result as Row)
    }
  }
  const blocks: Block[] = []
  for (const call of calls) {
    const result = call.response.result
    if (call.method !== 'Filecoin.ChainGetBlockMessages' || result === undefined) continue
    const row = result as Row
    const header = headers.get(cidOf(call.params))
    blocks.push({
      bls: (row.BlsMessages as Json[]).map((json) => messageCodec.fromJson(json, context)),
      secp: (row.SecpkMessages as Json[]).map((json) => signedMessage.fromJson(json, context)),
      aggregate: header?.BLSAggregate ? signatureCodec.fromJson(header.BLSAggregate, context) : undefined,
    })
  }
  return blocks
}

interface WalletKey {
  readonly Type: string
  readonly PrivateKey: string
}

function keysOf(chain: string): Map<string, WalletKey> {
  return new Map(
    Object.entries(
      parseJson(readSharedZstd(`data/golden/${chain}/keys.json.zst`)) as unknown as Record<string, WalletKey>,
    ),
  )
}

beforeAll(async () => {
  await initCrypto()
})

describe.skipIf(missingShared('data/golden/nv28')).each(['nv17', 'nv28'])('recorded chain %s', (chain) => {
  const chainId = BigInt(readSharedJson<{ chainId: number }>(`data/golden/${chain}/network.json`).chainId)

  it('verifies every signature, and none over another message', () => {
    let count = 0
    for (const block of blocksOf(chain)) {
      for (const signed of block.secp) {
        authenticateMessage(signed, signed.message.from, chainId)
        const other = { ...signed, message: { ...signed.message, nonce: signed.message.nonce + 1n } }
        expect(() => authenticateMessage(other, signed.message.from, chainId)).toThrow(
          expect.objectContaining({ code: 'INVALID_SIGNATURE' }),
        )
        count++
      }
    }
    expect(count).toBeGreaterThan(20)
  })

  it('verifies every aggregate', () => {
    let count = 0
    for (const block of blocksOf(chain)) {
      if (block.aggregate === undefined) continue
      if (block.bls.length === 0) {
        expect(block.aggregate.data).toEqual(bls.BLS_EMPTY_AGGREGATE)
        continue
      }
      // Senders written as f0 need the state.
      if (block.bls.some((message) => message.from.protocol !== 3)) continue
      const cids = block.bls.map((message) => messageCid(message).bytes)
      const keys = block.bls.map((message) => message.from.payload)
      expect(bls.verifyAggregate(block.aggregate.data, cids, keys)).toBe(true)
      count++
    }
    expect(count).toBeGreaterThan(5)
  })

  it('makes the addresses and the BLS aggregates again from the exported keys', () => {
    const keys = keysOf(chain)
    const byAddress = new Map<string, WalletKey>()
    for (const [text, key] of keys) {
      const secret = fromBase64(key.PrivateKey)
      const address =
        key.Type === 'bls'
          ? blsAddress(bls.publicKey(secret))
          : key.Type === 'secp256k1'
            ? secp256k1Address(secp256k1.publicKey(secret))
            : ethAddressToAddress(ethAddressOfPublicKey(secp256k1.publicKey(secret)))
      expect(address.toString('t')).toBe(text)
      byAddress.set(text, key)
    }
    let again = 0
    let secp = 0
    for (const block of blocksOf(chain)) {
      const blsKeys = block.bls.map((message) => byAddress.get(message.from.toString('t')))
      if (block.bls.length > 0 && block.aggregate !== undefined && blsKeys.every((key) => key !== undefined)) {
        const signatures = block.bls.map((message, i) =>
          bls.sign(messageCid(message).bytes, fromBase64((blsKeys[i] as WalletKey).PrivateKey)),
        )
        expect(bls.aggregate(signatures)).toEqual(block.aggregate.data)
        again++
      }
      for (const signed of block.secp) {
        const key = byAddress.get(signed.message.from.toString('t'))
        if (key === undefined || signed.signature.data.length !== 65) continue
        const data = signingBytes(signed.message, signed.message.from, chainId)
        const digest = key.Type === 'secp256k1' ? blake2b256(data) : keccak256(data)
        const made = secp256k1.sign(digest, fromBase64(key.PrivateKey))
        expect(verifySignature({ type: signed.signature.type, data: made }, signed.message.from, data)).toBe(true)
        secp++
      }
    }
    // Lotus draws the nonce of ECDSA at random (go-crypto Sign), so its secp256k1 signatures cannot be made again byte
    // for byte; the Ethereum transactions of the recording, signed by RFC 6979, are compared below.
    expect(again).toBeGreaterThan(3)
    expect(secp).toBeGreaterThan(20)
  })
})

describe.skipIf(missingShared('data/golden/nv28'))('Ethereum transactions of nv28', () => {
  const scenario = readSharedJson<{ chainId: string; ethTransactions: string[] }>('data/golden/nv28/scenario.json')
  const chainId = BigInt(scenario.chainId)

  function delegated(): SignedMessage[] {
    const seen = new Map<string, SignedMessage>()
    for (const block of blocksOf('nv28')) {
      for (const signed of block.secp) {
        if (signed.signature.type === 3) seen.set(signedMessageCid(signed).key, signed)
      }
    }
    return [...seen.values()]
  }

  it('have the recorded hashes, senders and fields', () => {
    const recorded = new Map<string, Row>()
    for (const call of recordedCalls('nv28', 'chain.jsonl.zst', ['eth_getTransactionByHash'])) {
      const row = call.response.result as Row
      // The last one was still pending when the chain ended.
      if (row.blockHash !== null) recorded.set(call.params[0] as string, row)
    }
    expect(recorded.size).toBe(scenario.ethTransactions.length - 1)
    const keys = keysOf('nv28')
    const kinds = new Set<string>()
    let met = 0
    for (const signed of delegated()) {
      const tx = transactionOfSignedMessage(signed, chainId)
      kinds.add(tx.kind)
      expect(transactionSender(tx).equals(signed.message.from)).toBe(true)
      const row = recorded.get(`0x${toHex(transactionHash(tx))}`)
      if (row === undefined) continue
      met++
      const hex = (value: bigint): string => `0x${value.toString(16)}`
      expect({ v: hex(tx.v), r: hex(tx.r), s: hex(tx.s), nonce: hex(tx.nonce), gas: hex(tx.gasLimit) }).toEqual({
        v: row.v,
        r: row.r,
        s: row.s,
        nonce: row.nonce,
        gas: row.gas,
      })
      expect(`0x${toHex(tx.input)}`).toBe(row.input)
      expect(tx.to === undefined ? null : `0x${toHex(tx.to)}`).toBe(row.to)
      expect(hex(tx.value)).toBe(row.value)
      // Signed outside Lotus, by RFC 6979: our key makes the same r and s.
      const key = keys.get(signed.message.from.toString('t')) as WalletKey
      const made = secp256k1.sign(keccak256(unsignedTransactionBytes(tx)), fromBase64(key.PrivateKey))
      expect(toHex(made)).toBe(toHex(recoverableSignature(tx) as Uint8Array))
    }
    expect(met).toBe(recorded.size)
    expect([...kinds].sort()).toEqual(['eip155', 'eip1559'])
  })

  it('are the same message after a round through raw bytes', () => {
    for (const signed of delegated()) {
      const raw = signedTransactionBytes(transactionOfSignedMessage(signed, chainId))
      const again = transactionToSignedMessage(parseTransaction(raw, chainId))
      expect(signedMessageCid(again).toString()).toBe(signedMessageCid(signed).toString())
    }
  })

  it('are refused when message and transaction differ', () => {
    const all = delegated()
    const legacy = all.find((signed) => signed.signature.data.length > 65) as SignedMessage
    const change = (signed: SignedMessage, part: Partial<Message>): SignedMessage => ({
      ...signed,
      message: { ...signed.message, ...part },
    })
    const refuse = (signed: SignedMessage): void =>
      expect(() => authenticateMessage(signed, signed.message.from, chainId)).toThrow(
        expect.objectContaining({ code: 'INVALID_TRANSACTION' }),
      )
    // An untyped transaction has one gas price.
    refuse(change(legacy, { gasPremium: legacy.message.gasPremium - 1n }))
    refuse(change(legacy, { method: 0n }))
    refuse(change(legacy, { params: fromHex('40') }))
    refuse(change(legacy, { params: fromHex('580101') }))
    refuse({ ...legacy, signature: { type: 3, data: legacy.signature.data.subarray(1) } })
    expect(() => authenticateMessage(legacy, legacy.message.from, chainId + 1n)).toThrow()
  })
})

describe('messages that no transaction stands for', () => {
  it('name the two allowed methods', () => {
    const from = ethAddressToAddress(new Uint8Array(20).fill(1))
    const message: Message = {
      version: 0,
      to: from,
      from,
      nonce: 0n,
      value: 1n,
      gasLimit: 1n,
      gasFeeCap: 0n,
      gasPremium: 0n,
      method: 0n,
      params: new Uint8Array(0),
    }
    // Lotus' text (chain/types/ethtypes/eth_1559_transactions.go).
    expect(() => signingBytes(message, from, 314n)).toThrow(
      'failed to reconstruct eth transaction: failed to get eth params and recipient: invalid methodnum 0: ' +
        'only allowed method is InvokeContract(3844450837) or CreateExternal(4)',
    )
  })
})

describe('untyped transactions of Ethereum itself', () => {
  const address = (hex: string) => ethAddressToAddress(fromHex(hex))

  it('without chain ID: mainnet transaction c55e2b90…', () => {
    const raw = fromHex(
      'f8718301efc58506fc23ac008305161594104994f45d9d697ca104e5704a7b77d7fec3537c890821878651a4d70000801ba051222d91a379452395d0abaff981af4cfcc242f25cfaf947dea8245a477731f9a03a997c910b4701cca5d933fb26064ee5af7fe3236ff0ef2b58aa50b25aff8ca5',
    )
    const tx = parseTransaction(raw, 314n)
    expect(tx.kind).toBe('homestead')
    expect(toHex(transactionHash(tx))).toBe('c55e2b90168af6972193c1f86fa4d7d7b31a29c156665d15b9cd48618b5177ef')
    expect(transactionSender(tx).equals(address('32be343b94f860124dc4fee278fdcbd38c102d88'))).toBe(true)
    const signed = transactionToSignedMessage(tx)
    expect(signed.signature.data).toHaveLength(66)
    authenticateMessage(signed, signed.message.from, 314n)
    expect(toHex(signedTransactionBytes(transactionOfSignedMessage(signed, 314n)))).toBe(toHex(raw))
  })

  it('with chain ID: the example of EIP-155', () => {
    const raw = fromHex(
      'f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
    )
    const tx = parseTransaction(raw, 1n)
    expect(tx.kind).toBe('eip155')
    expect(toHex(keccak256(unsignedTransactionBytes(tx)))).toBe(
      'daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53',
    )
    expect(transactionSender(tx).equals(address('9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f'))).toBe(true)
    const signed = transactionToSignedMessage(tx)
    authenticateMessage(signed, signed.message.from, 1n)
    expect(() => parseTransaction(raw, 314n)).toThrow('invalid chain id, expected 314, got 1')
  })

  it('refuses other types and cut bytes', () => {
    for (const hex of ['', '01c0', '03c0', '7f', 'c0', '02c0', '80']) {
      expect(() => parseTransaction(fromHex(hex), 314n), hex).toThrow()
    }
  })
})
