/**
 * At least one mutation for each check of a block, signed again by its producer so that only that check can fail: a local chain
 * whose keys are known makes the block. (What needs no signature is in validateBlock.test.ts.)
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { EMPTY_BYTES } from '../../src/base/bytes.ts'
import { type BlockMessages, storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import type { TipsetState } from '../../src/chain/vm.ts'
import { bytes as bytesCodec, encode } from '../../src/codec/description.ts'
import { mockBeacon, mockBeaconEntry } from '../../src/consensus/beacon.ts'
import { type BlockInput, type BlockValidation, validateBlock } from '../../src/consensus/validateBlock.ts'
import { type ValidationCode, ValidationError } from '../../src/consensus/validationError.ts'
import { mockWinningPoSt } from '../../src/consensus/winningPoSt.ts'
import { workerAt } from '../../src/consensus/workerAt.ts'
import { aggregate, BLS_EMPTY_AGGREGATE, sign } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { poolPrices } from '../../src/mempool/poolChain.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { type BlockHeader, headerSigningBytes, type Ticket } from '../../src/types/blockHeader.ts'
import type { Message } from '../../src/types/message.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, type Signature } from '../../src/types/signature.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { signingBytes } from '../../src/types/verifySignature.ts'
import { keyOf, signWith } from '../../src/wallet/key.ts'
import { type DevnetNode, devnetNode, signedBy } from '../support/devnetNode.ts'

/** Long after any block. */
const LATER_MS = 4_000_000_000_000
/** FRC-42 hash of "InvokeEVM": what an Ethereum call is as a message. */
const INVOKE = 3844450837n

let node: DevnetNode
let header: BlockHeader
let base: Tipset
let baseResult: TipsetState
let messages: BlockMessages
/** Signatures of the BLS messages, for the aggregate. */
let signed: SignedMessage[]

function account(kind: FundedAccount['kind'], index = 0): FundedAccount {
  return node.plan.accounts.filter((one) => one.kind === kind)[index] as FundedAccount
}

function delegated(nonce: bigint): SignedMessage {
  const from = account('delegated')
  const message: Message = {
    version: 0,
    from: from.address,
    to: account('delegated', 1).address,
    nonce,
    value: 5n,
    gasLimit: 30_000_000n,
    gasFeeCap: 1_000_000_000n,
    gasPremium: 1_000n,
    method: INVOKE,
    params: EMPTY_BYTES,
  }
  const key = keyOf({ type: 'delegated', privateKey: from.secretKey })
  return { message, signature: signWith(key, signingBytes(message, from.address, BigInt(node.plan.network.chainId))) }
}

beforeAll(async () => {
  await initCrypto()
  node = devnetNode({ miners: 4, seed: 'mutations' })
  await node.devnet.mine(3)
  signed = [
    signedBy(account('bls'), { to: account('bls', 1).address, value: 1n }),
    signedBy(account('bls'), { to: account('bls', 1).address, value: 2n, nonce: 1n }),
    signedBy(account('secp256k1'), { to: account('bls', 1).address, value: 3n }),
    signedBy(account('secp256k1'), { to: account('bls', 1).address, value: 4n, nonce: 1n }),
    delegated(0n),
  ]
  node.pending.push(...signed)
  const tipset = await node.devnet.mine(1)
  header = firstBlock(tipset)
  base = node.store.parent(tipset)
  baseResult = await node.vm.executeTipset(base)
  messages = node.view.blockMessages(header)
})

function deps(view: ChainView = node.view): BlockValidation {
  const prices = poolPrices(view)
  return {
    view,
    beaconAt: () => mockBeacon,
    winningPoSt: mockWinningPoSt,
    nowMs: () => LATER_MS,
    minimumGas: (epoch, length) => prices.total(epoch, length),
  }
}

/** The header with changes, signed by its own producer. */
function resigned(changes: Partial<BlockHeader>): BlockHeader {
  const changed = { ...header, ...changes, blockSig: null }
  const producer = node.plan.producers.find(({ miner }) => miner.equals(header.miner))
  const data = sign(headerSigningBytes(changed), producer!.workerKey)
  return { ...changed, blockSig: { type: SIGNATURE_BLS, data } }
}

/** A block with these messages: root, aggregate and signature are right for them. */
function withMessages(list: BlockMessages, blsSignatures: readonly Signature[], changes: Partial<BlockHeader> = {}) {
  const data = blsSignatures.length === 0 ? BLS_EMPTY_AGGREGATE : aggregate(blsSignatures.map((one) => one.data))
  const root = storeBlockMessages(new MemoryBlockstore(), list)
  const blsAggregate = { type: SIGNATURE_BLS, data } as const
  return { header: resigned({ messages: root, blsAggregate, ...changes }), messages: list }
}

function ofSigned(list: readonly SignedMessage[]): { header: BlockHeader; messages: BlockMessages } {
  const bls = list.filter(({ signature }) => signature.type === SIGNATURE_BLS)
  const others = list.filter(({ signature }) => signature.type !== SIGNATURE_BLS)
  return withMessages(
    { bls: bls.map(({ message }) => message), signed: others },
    bls.map(({ signature }) => signature),
  )
}

function codeOf(changes: Partial<BlockInput>, view?: ChainView): ValidationCode | 'valid' {
  try {
    validateBlock({ header, messages, base, baseResult, ...changes }, deps(view))
    return 'valid'
  } catch (error) {
    if (error instanceof ValidationError) return error.code
    throw error
  }
}

function flipped(data: Uint8Array): Uint8Array {
  const out = data.slice()
  out[5] = (out[5] as number) ^ 1
  return out
}

describe('a block of a local chain', () => {
  it('is valid as it was made, made again, and for a follower of headers', () => {
    expect(messages.bls.length).toBe(2)
    expect(messages.signed.length).toBe(3)
    expect(codeOf({})).toBe('valid')
    expect(codeOf(ofSigned(signed))).toBe('valid')
    expect(codeOf({ ...withMessages({ bls: [], signed: [] }, []) })).toBe('valid')
    expect(codeOf({ baseResult: undefined })).toBe('valid')
    expect(codeOf({ messages: undefined, baseResult: undefined })).toBe('valid')
    expect(codeOf({ header: resigned({ forkSignaling: (1n << 64n) - 1n }) })).toBe('valid')
  })

  it('is valid with 96 bytes of aggregate or more, of which the first 96 count', () => {
    // The longest signature has 200 bytes with its type.
    const ofLength = (good: ReturnType<typeof withMessages>, length: number): ValidationCode | 'valid' => {
      const data = new Uint8Array(length).fill(7)
      data.set((good.header.blsAggregate as Signature).data.subarray(0, length))
      return codeOf(withAggregate(good, data))
    }
    const withAggregate = (good: ReturnType<typeof withMessages>, data: Uint8Array): Partial<BlockInput> => ({
      header: resigned({ messages: good.header.messages, blsAggregate: { type: SIGNATURE_BLS, data } }),
      messages: good.messages,
    })
    const [full, empty] = [ofSigned(signed), withMessages({ bls: [], signed: [] }, [])]
    for (const good of [full, empty]) {
      for (const length of [0, 95]) expect(ofLength(good, length), String(length)).toBe('BLS_AGGREGATE_INVALID')
      for (const length of [96, 97, 199]) expect(ofLength(good, length), String(length)).toBe('valid')
    }
    const false97 = flipped((full.header.blsAggregate as Signature).data)
    expect(codeOf(withAggregate(full, new Uint8Array([...false97, 0])))).toBe('BLS_AGGREGATE_INVALID')
    // Without messages it is not looked at.
    expect(codeOf(withAggregate(empty, new Uint8Array(97).fill(7)))).toBe('valid')
  })

  const headers: [ValidationCode, () => Partial<BlockInput>][] = [
    ['PARENTS_UNKNOWN', () => ({ base: node.store.parent(base) })],
    [
      'LOOKBACK_UNKNOWN',
      () => {
        const far = 1000
        const delay = node.plan.network.blockDelaySecs
        return { header: resigned({ height: base.height + far, timestamp: firstBlock(base).timestamp + far * delay }) }
      },
    ],
    [
      'PREVIOUS_BEACON_UNKNOWN',
      () => {
        const silent = createTipset([{ ...firstBlock(node.store.genesis()), beaconEntries: [] }])
        const timestamp = firstBlock(silent).timestamp + node.plan.network.blockDelaySecs
        return { base: silent, header: resigned({ parents: [...silent.key], height: 1, timestamp }) }
      },
    ],
    ['WEIGHT_WRONG', () => ({ header: resigned({ parentWeight: header.parentWeight + 1n }) })],
    ['BLOCK_SIGNATURE_INVALID', () => ({ header: { ...header, forkSignaling: 7n } })],
    [
      'BEACON_ENTRIES_INVALID',
      () => ({ header: resigned({ beaconEntries: [mockBeaconEntry(1), ...header.beaconEntries] }) }),
    ],
    [
      'BEACON_ENTRIES_INVALID',
      () => ({ header: resigned({ beaconEntries: [...header.beaconEntries, ...header.beaconEntries] }) }),
    ],
    [
      'TICKET_INVALID',
      () => ({ header: resigned({ ticket: { vrfProof: flipped((header.ticket as Ticket).vrfProof) } }) }),
    ],
    ['WINNING_POST_INVALID', () => ({ header: resigned({ winPoStProof: [] }) })],
    ['BASE_FEE_WRONG', () => ({ header: resigned({ parentBaseFee: header.parentBaseFee + 1n }) })],
    ['STATE_ROOT_WRONG', () => ({ header: resigned({ parentStateRoot: firstBlock(base).parentStateRoot }) })],
    ['RECEIPTS_ROOT_WRONG', () => ({ header: resigned({ parentMessageReceipts: header.messages }) })],
  ]
  for (const [index, [code, change]] of headers.entries()) {
    it(`header: ${code} (${index})`, () => expect(codeOf(change())).toBe(code))
  }

  it('header: NOT_ELIGIBLE, on a network that wants more power', () => {
    const { network } = node.plan
    const protocol = { ...network.protocol, consensusMinerMinPowerBytes: 1n << 80n }
    const strict = new ChainView({
      store: node.store,
      network: { ...network, protocol },
      beaconRound: mockBeacon.roundAt,
    })
    expect(codeOf({}, strict)).toBe('NOT_ELIGIBLE')
  })

  it('header: WORKER_UNKNOWN for what is no miner', () => {
    expect(() => workerAt(node.view, node.view.stateBefore(base), idAddress(4))).toThrow(
      expect.objectContaining({ code: 'WORKER_UNKNOWN' }),
    )
  })

  const secp = (draft: Partial<Message>): SignedMessage =>
    signedBy(account('secp256k1'), { to: account('bls', 1).address, value: 3n, ...draft })
  const bls = (draft: Partial<Message>): SignedMessage =>
    signedBy(account('bls'), { to: account('bls', 1).address, value: 3n, ...draft })
  const unsound: [string, Partial<Message>][] = [
    ['too little gas', { gasLimit: 1000n }],
    ['no gas', { gasLimit: 0n }],
    ['more gas than a block has', { gasLimit: 10_000_000_001n }],
    ['negative value', { value: -1n }],
    ['more than all FIL', { value: 2_000_000_001n * 10n ** 18n }],
    ['negative fee cap', { gasFeeCap: -1n, gasPremium: -2n }],
    ['premium above the cap', { gasPremium: 2_000_000_000n }],
  ]
  const lists: [ValidationCode, string, () => Partial<BlockInput>][] = [
    ...unsound.map(([what, draft]): [ValidationCode, string, () => Partial<BlockInput>] => [
      'MESSAGE_SYNTAX_WRONG',
      what,
      () => ofSigned([secp(draft)]),
    ]),
    ['MESSAGE_SYNTAX_WRONG', 'of a BLS message', () => ofSigned([bls({ gasLimit: 1000n })])],
    ['NONCE_WRONG', 'too high', () => ofSigned([secp({ nonce: 1n })])],
    ['NONCE_WRONG', 'twice the same', () => ofSigned([secp({}), secp({ value: 9n })])],
    ['NONCE_WRONG', 'a gap', () => ofSigned([bls({}), bls({ nonce: 2n })])],
    ['NONCE_WRONG', 'of a delegated message', () => ofSigned([delegated(3n)])],
    ['NONCE_WRONG', 'one sender under two addresses', () => ofSigned([secp({}), secp({ from: secpId() })])],
    ['SENDER_INVALID', 'nobody', () => ofSigned([secp({ from: idAddress(99_999) })])],
    ['SENDER_INVALID', 'no account', () => ofSigned([secp({ from: header.miner })])],
    [
      'GAS_LIMIT_EXCEEDED',
      'together',
      () => ofSigned([bls({ gasLimit: 6_000_000_000n }), secp({ gasLimit: 6_000_000_000n })]),
    ],
    ['MESSAGE_KIND_WRONG', 'BLS in the second list', () => withMessages({ bls: [], signed: [bls({})] }, [])],
    [
      'MESSAGE_SIGNATURE_INVALID',
      'secp256k1',
      () => {
        const one = secp({})
        return ofSigned([{ ...one, signature: { ...one.signature, data: flipped(one.signature.data) } }])
      },
    ],
    [
      'MESSAGE_SIGNATURE_INVALID',
      'by another key',
      () =>
        ofSigned([
          { message: secp({}).message, signature: signedBy(account('secp256k1', 1), secp({}).message).signature },
        ]),
    ],
    [
      'MESSAGE_SIGNATURE_INVALID',
      'delegated',
      () => {
        const one = delegated(0n)
        return ofSigned([{ ...one, signature: { ...one.signature, data: flipped(one.signature.data) } }])
      },
    ],
    [
      'MESSAGE_SIGNATURE_INVALID',
      'delegated with parameters that no transaction has',
      () => {
        const one = delegated(0n)
        return ofSigned([{ ...one, message: { ...one.message, params: encode(bytesCodec, EMPTY_BYTES) } }])
      },
    ],
    [
      'MESSAGE_SIGNATURE_INVALID',
      'delegated by who has no Ethereum address',
      () => {
        const one = secp({})
        return ofSigned([{ ...one, signature: { type: SIGNATURE_DELEGATED, data: one.signature.data } }])
      },
    ],
    [
      'BLS_AGGREGATE_INVALID',
      'of another message',
      () => withMessages(ofSigned([bls({})]).messages, [bls({ value: 8n }).signature]),
    ],
    ['BLS_AGGREGATE_INVALID', 'one missing', () => withMessages(messages, [signed[0]!.signature])],
    [
      'BLS_AGGREGATE_INVALID',
      'a sender without a BLS key',
      () => withMessages({ bls: [secp({}).message], signed: [] }, []),
    ],
    [
      'BLS_AGGREGATE_INVALID',
      'an unknown sender',
      () => withMessages({ bls: [bls({ from: idAddress(99_999) }).message], signed: [] }, []),
    ],
    [
      'MESSAGES_ROOT_WRONG',
      'one more',
      () => ({ messages: { ...messages, signed: [...messages.signed, secp({ nonce: 2n })] } }),
    ],
    [
      'MESSAGES_ROOT_WRONG',
      'another order',
      () => ({ messages: { bls: [...messages.bls].reverse(), signed: messages.signed } }),
    ],
  ]
  for (const [code, what, change] of lists) {
    it(`messages: ${code}, ${what}`, () => expect(codeOf(change())).toBe(code))
  }

  it('messages: a follower of headers sees what needs no execution', () => {
    const headersOnly = (change: Partial<BlockInput>): ValidationCode | 'valid' =>
      codeOf({ ...change, baseResult: undefined })
    expect(headersOnly(ofSigned([secp({ gasLimit: 1000n })]))).toBe('MESSAGE_SYNTAX_WRONG')
    expect(headersOnly(withMessages(messages, [signed[0]!.signature]))).toBe('BLS_AGGREGATE_INVALID')
    expect(headersOnly({ messages: { bls: [], signed: [] } })).toBe('MESSAGES_ROOT_WRONG')
    expect(headersOnly(ofSigned([secp({ nonce: 5n })]))).toBe('valid')
  })

  it('tells failures of the moment from those that stay', () => {
    const isTemporary = (code: ValidationCode): boolean => new ValidationError(code, '').isTemporary
    expect(isTemporary('TIMESTAMP_IN_FUTURE')).toBe(true)
    expect(isTemporary('PARENTS_UNKNOWN')).toBe(true)
    expect(isTemporary('MESSAGES_ROOT_WRONG')).toBe(true)
    expect(isTemporary('STATE_ROOT_WRONG')).toBe(false)
    expect(isTemporary('BLOCK_SIGNATURE_INVALID')).toBe(false)
  })
})

function secpId(): Address {
  return idAddress(node.view.stateBefore(base).lookupId(account('secp256k1').address) as bigint)
}
