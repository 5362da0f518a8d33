import { describe, expect, it } from 'vitest'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { printedText, printOf } from '../../src/codec/jsonWriter.ts'
import { beneficiaryTerm, pendingBeneficiaryChange } from '../../src/state/miner.ts'
import { multisigState } from '../../src/state/multisig.ts'
import { changeBeneficiaryParams } from '../../src/state/params/miner/control.ts'
import { constructorParams, lockBalanceParams } from '../../src/state/params/multisig.ts'
import { signedVoucher } from '../../src/state/params/paych.ts'
import { paychState } from '../../src/state/paych.ts'
import { idAddress } from '../../src/types/address.ts'

const context = { addressPrefix: 'f' } as const
const SOME = parseCid('bafy2bzacecnamqgqmifpluoeldx7zzglxcljo6oja4vrmtj7432rphldpdmm2')
const [LARGEST, LEAST] = [(1n << 63n) - 1n, -(1n << 63n)]

describe('epochs that users choose', () => {
  it('of a multisig that is locked for ever are read and printed', () => {
    const writer = new CborWriter()
    writer.array(7)
    writer.array(0)
    writer.uint(1)
    writer.int(0)
    writer.bytes(new Uint8Array(0))
    writer.int(LEAST)
    writer.int(LARGEST)
    writer.cid(SOME)
    const state = decode(multisigState, writer.finish())
    expect([state.startEpoch, state.unlockDuration]).toEqual([LEAST, LARGEST])
    const text = printedText(printOf(multisigState), state, context)
    expect(text).toContain('"StartEpoch":-9223372036854775808,"UnlockDuration":9223372036854775807')
    expect(multisigState.fromJson(parseJson(text), context)).toEqual(state)
  })

  it('of a payment channel, too', () => {
    const ends = { from: idAddress(1000), to: idAddress(1001) }
    const state = { ...ends, toSend: 1n, settlingAt: LARGEST, minSettleHeight: LARGEST, laneStates: SOME }
    expect(decode(paychState, encode(paychState, state))).toEqual(state)
    expect(printedText(printOf(paychState), state, context)).toContain('"SettlingAt":9223372036854775807')
  })

  it('of a beneficiary of a miner, too', () => {
    const term = { quota: 1n, usedQuota: 0n, expiration: LARGEST }
    expect(decode(beneficiaryTerm, encode(beneficiaryTerm, term))).toEqual(term)
    expect(printedText(printOf(beneficiaryTerm), term, context)).toContain('"Expiration":9223372036854775807')
    const change = { newBeneficiary: idAddress(1000), newQuota: 1n, newExpiration: LEAST }
    const pending = { ...change, approvedByBeneficiary: true, approvedByNominee: false }
    expect(decode(pendingBeneficiaryChange, encode(pendingBeneficiaryChange, pending))).toEqual(pending)
    expect(decode(changeBeneficiaryParams, encode(changeBeneficiaryParams, change))).toEqual(change)
  })

  it('of parameters, too', () => {
    const lock = { startEpoch: LEAST, unlockDuration: LARGEST, amount: 5n }
    expect(decode(lockBalanceParams, encode(lockBalanceParams, lock))).toEqual(lock)
    const { amount: _, ...epochs } = lock
    const wallet = { signers: [idAddress(1000)], numApprovalsThreshold: 1n, ...epochs }
    expect(decode(constructorParams, encode(constructorParams, wallet))).toEqual(wallet)
    const voucher = {
      channelAddr: idAddress(1000),
      ...{ timeLockMin: LEAST, timeLockMax: LARGEST, minSettleHeight: LARGEST },
      ...{ secretHash: new Uint8Array(0), extra: null, lane: 0, nonce: 1, amount: 1n, merges: [], signature: null },
    }
    expect(decode(signedVoucher, encode(signedVoucher, voucher))).toEqual(voucher)
  })
})
