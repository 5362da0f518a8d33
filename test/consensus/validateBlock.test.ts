/**
 * Blocks that Lotus made pass every check; a change of anything fails with that check's own code. Where a mutation would
 * already fail an earlier check (everything is under the signature), the check is called by itself.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { BlockMessages } from '../../src/chain/blockMessages.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { networkBeacons } from '../../src/consensus/drandBeacon.ts'
import {
  type BlockInput,
  type BlockValidation,
  checkDistinctMiners,
  validateBlock,
} from '../../src/consensus/validateBlock.ts'
import { type ValidationCode, ValidationError } from '../../src/consensus/validationError.ts'
import { mockWinningPoSt } from '../../src/consensus/winningPoSt.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { poolPrices } from '../../src/mempool/poolChain.ts'
import { parseAddress } from '../../src/types/address.ts'
import type { BlockHeader, ElectionProof, Ticket } from '../../src/types/blockHeader.ts'
import type { Signature } from '../../src/types/signature.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'

/** Long after any recorded block. */
const LATER_MS = 4_000_000_000_000

function deps(view: ChainView, nowMs = LATER_MS): BlockValidation {
  const prices = poolPrices(view)
  return {
    view,
    beaconAt: networkBeacons(view.network, firstBlock(view.store.genesis()).timestamp),
    winningPoSt: mockWinningPoSt,
    nowMs: () => nowMs,
    minimumGas: (epoch, length) => prices.total(epoch, length),
  }
}

/** The block with what its own chain says of its parents. */
function inputOf(view: ChainView, header: BlockHeader): BlockInput {
  const base = view.store.tipset(header.parents)
  return {
    header,
    messages: view.blockMessages(header),
    base,
    baseResult: { stateRoot: header.parentStateRoot, receiptsRoot: header.parentMessageReceipts },
  }
}

function flipped(bytes: Uint8Array): Uint8Array {
  const out = bytes.slice()
  out[out.length - 1] = (out.at(-1) as number) ^ 1
  return out
}

function codeOf(run: () => void): ValidationCode | 'valid' {
  try {
    run()
    return 'valid'
  } catch (error) {
    if (error instanceof ValidationError) return error.code
    throw error
  }
}

beforeAll(async () => {
  await initCrypto()
})

for (const name of ['nv17', 'nv28', 'f3']) {
  const missing = missingShared(`data/golden/${name}`)
  if (missing !== undefined) console.warn(`skipped: ${missing}`)

  describe.skipIf(missing !== undefined)(`validation of ${name}`, () => {
    // Signatures take milliseconds each: every so many tipsets, and those with many messages.
    it('accepts what Lotus made', { timeout: 240_000 }, () => {
      const { view } = openRecordedView(name)
      const all = deps(view)
      let blocks = 0
      for (let tipset = view.store.head(); tipset.height > 0; tipset = view.store.parent(tipset)) {
        for (const header of tipset.blocks) {
          const input = inputOf(view, header)
          const { bls, signed } = input.messages as BlockMessages
          if (tipset.height % 10 !== 0 && bls.length + signed.length < 3) continue
          validateBlock(input, all)
          blocks++
        }
      }
      expect(blocks).toBeGreaterThan(10)
    })
  })
}

const missing = missingShared('data/golden/nv28')
describe.skipIf(missing !== undefined)('validation refuses', () => {
  const { view } = missing === undefined ? openRecordedView('nv28') : ({ view: undefined as never } as const)

  /** The newest block with messages of both kinds. */
  function chosen(): BlockHeader {
    for (let tipset: Tipset = view.store.head(); tipset.height > 0; tipset = view.store.parent(tipset)) {
      for (const header of tipset.blocks) {
        const { bls, signed } = view.blockMessages(header)
        if (bls.length > 0 && signed.length > 0) return header
      }
    }
    throw new Error('no block with messages of both kinds')
  }

  const mutations: [code: ValidationCode, change: (header: BlockHeader) => Partial<BlockHeader>][] = [
    ['FIELD_MISSING', () => ({ electionProof: null })],
    ['FIELD_MISSING', () => ({ ticket: null })],
    ['FIELD_MISSING', () => ({ blockSig: null })],
    ['FIELD_MISSING', () => ({ blsAggregate: null })],
    ['MINER_NOT_ID', () => ({ miner: parseAddress('f15ihq5ibzwki2b4ep2f46avlkrqzhpqgtga7pdrq') })],
    ['HEIGHT_NOT_ABOVE_PARENTS', (header) => ({ height: view.store.tipset(header.parents).height })],
    ['TIMESTAMP_WRONG', (header) => ({ timestamp: header.timestamp + 1 })],
    ['MINER_WITHOUT_CLAIM', () => ({ miner: parseAddress('f0999') })],
    ['WEIGHT_WRONG', (header) => ({ parentWeight: header.parentWeight + 1n })],
    ['NOT_A_WINNER', (header) => ({ electionProof: { ...(header.electionProof as ElectionProof), winCount: 0 } })],
    [
      'ELECTION_PROOF_INVALID',
      (header) => {
        const proof = header.electionProof as ElectionProof
        return { electionProof: { ...proof, vrfProof: flipped(proof.vrfProof) } }
      },
    ],
    [
      'WIN_COUNT_WRONG',
      (header) => {
        const proof = header.electionProof as ElectionProof
        return { electionProof: { ...proof, winCount: proof.winCount + 1 } }
      },
    ],
    ['BLOCK_SIGNATURE_INVALID', (header) => ({ forkSignaling: header.forkSignaling + 1n })],
    ['BLOCK_SIGNATURE_INVALID', (header) => ({ ticket: { vrfProof: flipped((header.ticket as Ticket).vrfProof) } })],
    [
      'BLOCK_SIGNATURE_INVALID',
      (header) => {
        const signature = header.blockSig as Signature
        return { blockSig: { ...signature, type: 1 } }
      },
    ],
  ]
  for (const [index, [code, change]] of mutations.entries()) {
    it(`${code} (${index})`, () => {
      const header = chosen()
      const input = { ...inputOf(view, header), header: { ...header, ...change(header) } }
      expect(codeOf(() => validateBlock(input, deps(view)))).toBe(code)
    })
  }

  it('TIMESTAMP_IN_FUTURE, for now', () => {
    const header = chosen()
    const early = deps(view, (header.timestamp - 2) * 1000)
    try {
      validateBlock(inputOf(view, header), early)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ code: 'TIMESTAMP_IN_FUTURE', isTemporary: true })
    }
  })

  it('WINNING_POST_INVALID', () => {
    const header = chosen()
    const no = { ...deps(view), winningPoSt: () => 'no' }
    expect(codeOf(() => validateBlock(inputOf(view, header), no))).toBe('WINNING_POST_INVALID')
    expect(mockWinningPoSt({ header: { ...header, winPoStProof: [] } })).toContain('No winning post proof')
    const winPoStProof = [{ postProof: 0, proofBytes: new Uint8Array(11) }]
    expect(mockWinningPoSt({ header: { ...header, winPoStProof } })).toContain('invalid')
  })

  it('STATE_ROOT_WRONG and RECEIPTS_ROOT_WRONG', () => {
    const header = chosen()
    const input = inputOf(view, header)
    const other = header.messages
    const { parentStateRoot: stateRoot, parentMessageReceipts: receiptsRoot } = header
    const all = deps(view)
    expect(
      codeOf(() =>
        validateBlock(
          { ...input, baseResult: { stateRoot: view.store.head().blocks[0]!.parentStateRoot, receiptsRoot } },
          all,
        ),
      ),
    ).toBe('STATE_ROOT_WRONG')
    expect(codeOf(() => validateBlock({ ...input, baseResult: { stateRoot, receiptsRoot: other } }, all))).toBe(
      'RECEIPTS_ROOT_WRONG',
    )
  })

  const messageMutations: [code: ValidationCode, change: (messages: BlockMessages) => BlockMessages][] = [
    ['MESSAGES_ROOT_WRONG', ({ bls, signed }) => ({ bls: bls.slice(1), signed })],
    ['MESSAGES_ROOT_WRONG', ({ bls, signed }) => ({ bls, signed: [...signed, signed[0]!] })],
  ]
  for (const [index, [code, change]] of messageMutations.entries()) {
    it(`${code} (${index})`, () => {
      const input = inputOf(view, chosen())
      expect(
        codeOf(() => validateBlock({ ...input, messages: change(input.messages as BlockMessages) }, deps(view))),
      ).toBe(code)
    })
  }

  it('DUPLICATE_MINER', () => {
    const tipset = view.store.head()
    expect(codeOf(() => checkDistinctMiners(tipset))).toBe('valid')
    const twice = { ...tipset, blocks: [firstBlock(tipset), firstBlock(tipset)] }
    expect(codeOf(() => checkDistinctMiners(twice))).toBe('DUPLICATE_MINER')
  })
})
