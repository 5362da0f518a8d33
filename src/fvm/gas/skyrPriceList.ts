import { type GasCharge, gasCharge, MILLIGAS } from './charge.ts'
import type { PriceList } from './priceList.ts'
import { SKYR } from './prices.ts'
import { proofCharges } from './proofCharges.ts'

const p = SKYR
const free: GasCharge = gasCharge('', 0)
const create = gasCharge(
  'OnCreateActor',
  p.createActorCompute * MILLIGAS,
  p.createActorBytes * p.storageMultiplier * MILLIGAS,
)
const remove = gasCharge('OnDeleteActor', 0, -p.createActorBytes * p.storageMultiplier * MILLIGAS)
const recover = gasCharge('OnRecoverSecpPublicKey', p.recoverSecp * MILLIGAS)
const verifyBls = gasCharge('OnVerifySignature', p.verifyBls * MILLIGAS)
const verifySecp = gasCharge('OnVerifySignature', p.verifySecp * MILLIGAS)
const hashing = gasCharge('OnHashing', p.hashing * MILLIGAS)
const fault = gasCharge('OnVerifyConsensusFault', (p.extern + p.verifyConsensusFault) * MILLIGAS)
const randomness = gasCharge('OnGetRandomness', p.extern * MILLIGAS)
const openBase = gasCharge('OnBlockOpenBase', (p.extern + p.blockOpen) * MILLIGAS)
const memoryPerByte = p.blockRetentionPerByte * MILLIGAS + p.blockCopyMilligasPerByte

/** The charges of FVM 2 (nv 16, 17). @see ref-fvm release/v2 fvm/src/gas/price_list.rs */
export const skyrPriceList: PriceList = {
  ...proofCharges(p),
  onChainMessage: (size) =>
    gasCharge(
      'OnChainMessage',
      p.chainMessageCompute * MILLIGAS,
      (p.chainMessageOverheadBytes + size) * p.storageMultiplier * MILLIGAS,
    ),
  onChainReturnValue: (size) => gasCharge('OnChainReturnValue', 0, size * p.storageMultiplier * MILLIGAS),
  onMethodReturn: () => undefined,
  onMethodInvocation: (hasValue, isSend) => {
    let gas = p.send
    if (hasValue) gas += isSend ? p.transfer + p.transferOnly : p.transfer
    if (!isSend) gas += p.invoke
    return gasCharge('OnMethodInvocation', gas * MILLIGAS)
  },
  onValueTransfer: () => free,
  onCreateActor: () => create,
  onDeleteActor: () => remove,
  onActorLookup: () => free,
  onActorUpdate: () => free,
  onVerifySignature: (type) => (type === 2 ? verifyBls : verifySecp),
  onVerifyBlsAggregate: () => free,
  onRecoverSecp: () => recover,
  onHashing: () => hashing,
  onVerifyConsensusFault: () => fault,
  onRandomness: () => randomness,
  onTipsetCid: () => free,
  onBlockOpenBase: () => openBase,
  onBlockOpen: (size) => gasCharge('OnBlockOpenPerByte', memoryPerByte * size),
  onBlockRead: (size) => gasCharge('OnBlockRead', p.blockCopyMilligasPerByte * size),
  onBlockCreate: (size) => gasCharge('OnBlockCreate', memoryPerByte * size),
  onBlockLink: (size) =>
    gasCharge(
      'OnBlockLink',
      p.blockLink * MILLIGAS + 2 * p.blockCopyMilligasPerByte * size,
      p.blockLinkBytesPerByte * p.storageMultiplier * size * MILLIGAS,
    ),
  onGetRoot: () => undefined,
  onSetRoot: () => undefined,
  onEvent: () => free,
  onEventValidate: () => free,
  onEventAccept: () => free,
  scanPerField: 0,
  scanPerCid: 0,
}
