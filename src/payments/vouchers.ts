/**
 * Rules of vouchers: what is signed, who must have signed it, what it may be worth beside the others of its channel. Lanes are
 * those of the chain with the vouchers that the node holds on top.
 * @see lotus paychmgr/paych.go checkVoucherValidUnlocked, laneState, totalRedeemedWithVoucher; lib/sigs/sigs.go Verify
 */
import { encode } from '../codec/description.ts'
import { type SignedVoucher, signedVoucher } from '../state/params/paych.ts'
import type { LaneState } from '../state/paych.ts'
import { type Address, isIdAddress } from '../types/address.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { SIGNATURE_BLS, SIGNATURE_DELEGATED, SIGNATURE_SECP256K1 } from '../types/signature.ts'
import { verifySignature } from '../types/verifySignature.ts'
import type { VoucherRecord } from './channelStore.ts'
import { PaymentError } from './errors.ts'

/** What of a channel on the chain its vouchers are checked against. */
export interface ChannelOnChain {
  /** Key of who pays. */
  readonly fromKey: Address
  readonly balance: TokenAmount
  readonly lanes: ReadonlyMap<number, LaneState>
}

function invalid(text: string): PaymentError {
  return new PaymentError('VOUCHER_INVALID', text)
}

/** What is signed: the voucher without its signature. @see go-state-types builtin/v8/paych SigningBytes */
export function voucherBytes(voucher: SignedVoucher): Uint8Array {
  return encode(signedVoucher, { ...voucher, signature: null })
}

/** @throws PaymentError `VOUCHER_INVALID` */
function assertVoucherSignature(voucher: SignedVoucher, signer: Address): void {
  const { signature } = voucher
  if (signature === null) throw invalid('signature is nil')
  if (isIdAddress(signer)) throw invalid('must resolve ID addresses before using them to verify a signature')
  if (![SIGNATURE_SECP256K1, SIGNATURE_BLS, SIGNATURE_DELEGATED].includes(signature.type)) {
    throw invalid(`cannot verify signature of unsupported type: ${signature.type}`)
  }
  if (verifySignature(signature, signer, voucherBytes(voucher))) return
  throw invalid(signature.type === SIGNATURE_BLS ? 'bls signature failed to verify' : 'signature did not match')
}

/** The chain's lanes, with the vouchers that are newer. @throws PaymentError `VOUCHER_INVALID` */
export function lanesWith(
  lanes: ReadonlyMap<number, LaneState>,
  vouchers: readonly VoucherRecord[],
): Map<number, LaneState> {
  const out = new Map(lanes)
  for (const { voucher } of vouchers) {
    if (voucher.merges.length > 0) throw invalid('paych merges not handled yet')
    const known = out.get(voucher.lane)
    if (known !== undefined && voucher.nonce < known.nonce) continue
    out.set(voucher.lane, { redeemed: voucher.amount, nonce: voucher.nonce })
  }
  return out
}

/** Sum over all lanes. */
export function redeemedTotal(lanes: ReadonlyMap<number, LaneState>): TokenAmount {
  let total = 0n
  for (const { redeemed } of lanes.values()) total += redeemed
  return total
}

/**
 * Whether a voucher is, or may become, worth its amount.
 * @returns the lanes without it
 * @throws PaymentError `VOUCHER_INVALID`; `NOT_ENOUGH_FUNDS` with `shortfall` in its info, decimal attoFIL
 */
export function assertVoucher(
  voucher: SignedVoucher,
  channel: Address,
  chain: ChannelOnChain,
  vouchers: readonly VoucherRecord[],
  addressText: (address: Address) => string,
): Map<number, LaneState> {
  if (!voucher.channelAddr.equals(channel)) {
    const names = `got ${addressText(voucher.channelAddr)}, expected ${addressText(channel)}`
    throw invalid(`voucher ChannelAddr doesn't match channel address, ${names}`)
  }
  if (voucher.extra !== null) throw invalid('voucher is Message Locked')
  if (voucher.timeLockMax !== 0n) throw invalid('voucher is Max Time Locked')
  if (voucher.timeLockMin !== 0n) throw invalid('voucher is Min Time Locked')
  if (voucher.secretHash.length !== 0) throw invalid('voucher is Hash Locked')
  assertVoucherSignature(voucher, chain.fromKey)
  const lanes = lanesWith(chain.lanes, vouchers)
  const lane = lanes.get(voucher.lane)
  if (lane !== undefined && voucher.nonce <= lane.nonce) throw invalid('nonce too low')
  if (lane !== undefined && voucher.amount <= lane.redeemed) {
    throw invalid('voucher amount is lower than amount for voucher with lower nonce')
  }
  if (voucher.merges.length > 0) throw invalid("don't currently support paych lane merges")
  const total = redeemedTotal(lanes) - (lane?.redeemed ?? 0n) + voucher.amount
  if (total > chain.balance) {
    const shortfall = total - chain.balance
    const text = `not enough funds in channel to cover voucher - shortfall: ${shortfall}`
    throw new PaymentError('NOT_ENOUGH_FUNDS', text, { shortfall: shortfall.toString() })
  }
  return lanes
}
