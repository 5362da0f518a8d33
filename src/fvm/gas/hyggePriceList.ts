/**
 * The charges of FVM 3 and 4 (nv 18 and later), over one of their tables.
 * @see ref-fvm release/v3 and master fvm/src/gas/price_list.rs
 */
import { type GasCharge, gasCharge, MILLIGAS } from './charge.ts'
import { HASH_CODES } from './hashCodes.ts'
import type { PriceList } from './priceList.ts'
import type { HyggePrices } from './prices.ts'
import { proofCharges } from './proofCharges.ts'

/** Bytes that a draw hashes beside its entropy: tag, base digest, epoch. */
const RANDOMNESS_OVERHEAD = 8 + 32 + 8
/** Bytes of CBOR around an event: emitter and list heads. */
const EVENT_OVERHEAD = 12
/** Bytes of CBOR around an event's entry. */
const EVENT_ENTRY_OVERHEAD = 9

/** @param links - whether links count (FVM 4); the charge for opening a block has another name then */
export function hyggePriceList(p: HyggePrices, links: boolean): PriceList {
  const fixed = (name: string, compute: number, storage = 0): GasCharge =>
    gasCharge(name, compute * MILLIGAS, storage * MILLIGAS)
  const transfer = fixed('OnValueTransfer', p.transfer)
  const create = fixed('OnCreateActor', 0, p.actorCreate)
  const createWithAddress = fixed('OnCreateActor', 0, p.actorCreate + p.addressAssignment + p.addressLookup)
  const remove = fixed('OnDeleteActor', 0)
  const lookup = fixed('OnActorLookup', 0, p.actorLookup)
  const update = fixed('OnActorUpdate', 0, p.actorUpdate)
  const recover = fixed('OnRecoverSecpPublicKey', p.recoverSecp)
  const fault = fixed('OnVerifyConsensusFault', 0, p.verifyConsensusFault)
  const openBase = fixed('OnBlockOpenBase', p.linkChecked, p.blockOpen)
  const getRoot = links ? fixed('OnActorGetRoot', p.linkTracked) : undefined
  const setRoot = links ? fixed('OnActorSetRoot', p.linkChecked) : undefined
  const openName = links ? 'OnBlockOpen' : 'OnBlockOpenPerByte'

  const linkTracked = p.linkTracked * MILLIGAS
  const linkChecked = p.linkChecked * MILLIGAS
  /** One copy and one allocation. */
  const memoryPerByte = p.blockCopyMilligasPerByte + p.blockAllocatePerByte * MILLIGAS
  const retentionPerByte = p.blockRetentionPerByte * MILLIGAS
  const blake2bPerByte = p.hashing.blake2b * MILLIGAS
  const invoke = p.invoke * MILLIGAS

  return {
    ...proofCharges(p),
    onChainMessage: (size) =>
      gasCharge(
        'OnChainMessage',
        p.chainMessageCompute * MILLIGAS,
        (p.actorUpdate + p.chainMessageStorage.flat + p.chainMessageStorage.scale * size) * MILLIGAS,
      ),
    onChainReturnValue: () => undefined,
    onMethodReturn: (depth, size, count) => {
      if (depth === 1) return gasCharge('OnChainReturnValue', 0, p.chainReturnPerByte * size * MILLIGAS)
      return links ? gasCharge('OnReturnValue', linkTracked * count) : undefined
    },
    onMethodInvocation: (_hasValue, _isSend, count) => gasCharge('OnMethodInvocation', invoke + linkTracked * count),
    onValueTransfer: () => transfer,
    onCreateActor: (newAddress) => (newAddress ? createWithAddress : create),
    onDeleteActor: () => remove,
    onActorLookup: () => lookup,
    onActorUpdate: () => update,
    onVerifySignature: (type, size) => {
      const price = type === 2 ? p.verifyBls : p.verifySecp
      return gasCharge('OnVerifySignature', (price.flat + price.scale * size) * MILLIGAS)
    },
    onVerifyBlsAggregate: (signers, size) =>
      gasCharge(
        'OnVerifyBlsAggregateSignature',
        (p.blsPairing * (signers + 1) + p.blsHashingPerByte * size) * MILLIGAS,
      ),
    onRecoverSecp: () => recover,
    onHashing: (code, size) => gasCharge('OnHashing', p.hashing[HASH_CODES[code] ?? 'blake2b'] * size * MILLIGAS),
    onVerifyConsensusFault: () => fault,
    onRandomness: (entropy, lookback) =>
      links
        ? gasCharge('OnGetRandomness', 0, (p.lookback.flat + p.lookback.scale * lookback) * MILLIGAS)
        : gasCharge(
            'OnGetRandomness',
            0,
            (p.randomnessSeed + p.hashing.blake2b * (entropy + RANDOMNESS_OVERHEAD)) * MILLIGAS,
          ),
    onTipsetCid: (lookback) =>
      gasCharge(
        'OnTipsetCid',
        0,
        (links
          ? p.lookback.flat + p.lookback.scale * lookback
          : lookback > 1
            ? p.tipsetCidHistorical
            : p.tipsetCidLatest) * MILLIGAS,
      ),
    onBlockOpenBase: () => openBase,
    onBlockOpen: (size, count) => {
      const compute = links ? linkTracked * count : memoryPerByte * size
      const open = links ? memoryPerByte * size : 0
      const surcharge = Math.max(0, retentionPerByte * size - (compute + open))
      return gasCharge(openName, compute, open + surcharge)
    },
    onBlockRead: (size) => gasCharge('OnBlockRead', p.blockCopyMilligasPerByte * size),
    onBlockCreate: (size, count) => {
      const compute = memoryPerByte * size + linkChecked * count
      return gasCharge('OnBlockCreate', compute, Math.max(0, retentionPerByte * size - compute))
    },
    onBlockLink: (size) =>
      gasCharge(
        'OnBlockLink',
        (memoryPerByte + blake2bPerByte) * size + linkTracked,
        (p.blockPersistCompute + p.blockPersistStorage.flat + p.blockPersistStorage.scale * size) * MILLIGAS,
      ),
    onGetRoot: () => getRoot,
    onSetRoot: () => setRoot,
    onEvent: (entries, keyBytes, valueBytes) => {
      const size = EVENT_OVERHEAD + EVENT_ENTRY_OVERHEAD * entries + keyBytes + valueBytes
      const memory = memoryPerByte * size
      const validation =
        p.eventEntries.flat +
        p.eventEntries.scale * entries +
        p.eventKeyValidation.flat +
        p.eventKeyValidation.scale * keyBytes
      return gasCharge('OnActorEvent', 2 * memory + validation * MILLIGAS, blake2bPerByte * size + memory)
    },
    onEventValidate: (size) =>
      gasCharge(
        'OnActorEventValidate',
        memoryPerByte * size + (p.eventValidation.flat + p.eventValidation.scale * size) * MILLIGAS,
      ),
    onEventAccept: (size) => {
      const stamped = size + EVENT_OVERHEAD
      return gasCharge(
        'OnActorEventAccept',
        memoryPerByte * stamped,
        (2 * p.blockCopyMilligasPerByte + p.blockAllocatePerByte * MILLIGAS + blake2bPerByte) * stamped,
      )
    },
    scanPerField: p.scanPerField * MILLIGAS,
    scanPerCid: p.scanPerCid * MILLIGAS,
  }
}
