/**
 * Types of what the built-in actors' methods return, for the methods that people send: by kind of actor and number.
 * A method that is not here is shown as its raw bytes. The names of fields are Go's.
 * @see go-state-types builtin/v16/<actor>/methods.go; lotus chain/stmgr/utils.go GetReturnType
 */
import { methodNumber } from '../actors/frc42.ts'
import {
  bigInt,
  bool,
  bytes,
  type Codec,
  cid,
  fixedBytes,
  i64,
  int,
  list,
  nullable,
  text,
  tuple,
  u64,
  uint,
} from '../codec/description.ts'
import { bitField } from '../ipld/bitfield.ts'
import type { ActorKind } from '../state/actorKind.ts'
import { beneficiaryTerm, pendingBeneficiaryChange } from '../state/miner.ts'
import { address } from '../types/address.ts'
import { METHOD_INVOKE_EVM } from '../types/message.ts'
import type { MethodNum } from '../types/scalars.ts'

/** Reads a return and shows it. */
export type ReturnType = Codec<unknown>

/** A Go struct, from its field names and their codecs. */
function record(name: string, ...fields: readonly (readonly [string, Codec<unknown>])[]): ReturnType {
  const columns = fields.map(([field, codec]) => [field, field, codec])
  return tuple(name, columns as never) as ReturnType
}

function loose<T>(codec: Codec<T>): ReturnType {
  return codec as unknown as ReturnType
}

/** Go prints a fixed array of bytes as numbers. */
const ethAddress: ReturnType = loose<Uint8Array>({
  ...fixedBytes(20),
  toJson: (value) => [...value],
})

const created = record('init.ExecReturn', ['IDAddress', loose(address)], ['RobustAddress', loose(address)])
const applied = [
  ['Applied', loose(bool)],
  ['Code', loose(int)],
  ['Ret', loose(bytes)],
] as const
const proposed = record('multisig.ProposeReturn', ['TxnID', loose(u64)], ...applied)
const approved = record('multisig.ApproveReturn', ...applied)
const amount = loose(bigInt)
const deployed = record(
  'eam.CreateReturn',
  ['ActorID', loose(u64)],
  ['RobustAddress', loose(nullable(address))],
  ['EthAddress', ethAddress],
)
const balances = record('market.GetBalanceReturn', ['Balance', amount], ['Locked', amount])
const dealTerm = record('market.GetDealTermReturn', ['Start', loose(int)], ['Duration', loose(int)])
const dealTimes = record('market.GetDealActivationReturn', ['Activated', loose(int)], ['Terminated', loose(int)])
const burnt = record('datacap.BurnReturn', ['Balance', amount])

/** By number, and by exported name. */
type Table = Readonly<Record<string, ReturnType>>

const TABLES: Readonly<Partial<Record<ActorKind, Table>>> = {
  account: { 2: loose(address), AuthenticateMessage: loose(bool) },
  init: { 2: created, Exec: created, 3: created },
  multisig: { 2: proposed, Propose: proposed, 3: approved, Approve: approved },
  storagepower: {
    2: created,
    CreateMiner: created,
    NetworkRawPower: amount,
    MinerCount: loose(i64),
    MinerConsensusCount: loose(i64),
    MinerRawPower: record(
      'power.MinerRawPowerReturn',
      ['RawBytePower', amount],
      ['MeetsConsensusMinimum', loose(bool)],
    ),
    MinerPower: record('power.MinerPowerReturn', ['RawBytePower', amount], ['QualityAdjPower', amount]),
  },
  storageminer: {
    2: record(
      'miner.GetControlAddressesReturn',
      ['Owner', loose(address)],
      ['Worker', loose(address)],
      ['ControlAddrs', loose(list(address))],
    ),
    9: record('miner.TerminateSectorsReturn', ['Done', loose(bool)]),
    16: amount,
    WithdrawBalance: amount,
    31: record(
      'miner.GetBeneficiaryReturn',
      ['Active', record('miner.ActiveBeneficiary', ['Beneficiary', loose(address)], ['Term', loose(beneficiaryTerm)])],
      ['Proposed', loose(nullable(pendingBeneficiaryChange))],
    ),
    GetAvailableBalance: amount,
    GetSectorSize: loose(u64),
    IsControllingAddress: loose(bool),
    GetOwner: record('miner.GetOwnerReturn', ['Owner', loose(address)], ['Proposed', loose(nullable(address))]),
  },
  storagemarket: {
    3: amount,
    WithdrawBalance: amount,
    4: record('market.PublishStorageDealsReturn', ['IDs', loose(list(u64))], ['ValidDeals', loose(bitField)]),
    PublishStorageDeals: record(
      'market.PublishStorageDealsReturn',
      ['IDs', loose(list(u64))],
      ['ValidDeals', loose(bitField)],
    ),
    GetBalance: balances,
    GetDealDataCommitment: record('market.GetDealDataCommitmentReturn', ['Data', loose(cid)], ['Size', loose(u64)]),
    GetDealClient: loose(i64),
    GetDealProvider: loose(i64),
    GetDealTerm: dealTerm,
    GetDealTotalPrice: amount,
    GetDealClientCollateral: amount,
    GetDealProviderCollateral: amount,
    GetDealVerified: loose(bool),
    GetDealActivation: dealTimes,
    GetDealSector: loose(u64),
  },
  verifiedregistry: {
    7: record('verifreg.RemoveDataCapReturn', ['VerifiedClient', loose(address)], ['DataCapRemoved', amount]),
  },
  datacap: {
    Mint: record('datacap.MintReturn', ['Balance', amount], ['Supply', amount], ['RecipientData', loose(bytes)]),
    Destroy: burnt,
    Name: loose(text),
    Symbol: loose(text),
    Granularity: loose(uint),
    TotalSupply: amount,
    Balance: amount,
    Transfer: record(
      'datacap.TransferReturn',
      ['FromBalance', amount],
      ['ToBalance', amount],
      ['RecipientData', loose(bytes)],
    ),
    TransferFrom: record(
      'datacap.TransferFromReturn',
      ['FromBalance', amount],
      ['ToBalance', amount],
      ['Allowance', amount],
      ['RecipientData', loose(bytes)],
    ),
    IncreaseAllowance: amount,
    DecreaseAllowance: amount,
    RevokeAllowance: amount,
    Burn: burnt,
    BurnFrom: record('datacap.BurnFromReturn', ['Balance', amount], ['Allowance', amount]),
    Allowance: amount,
  },
  eam: { 2: deployed, 3: deployed, 4: deployed },
  evm: { [String(METHOD_INVOKE_EVM)]: loose(bytes), 3: loose(nullable(cid)) },
}

const tables = new Map<string, Map<MethodNum, ReturnType>>()

/** The type of what a method returns; undefined when it is not known. */
export function returnType(kind: string, method: MethodNum): ReturnType | undefined {
  let table = tables.get(kind)
  if (table === undefined) {
    table = new Map()
    for (const [name, type] of Object.entries(TABLES[kind as ActorKind] ?? {})) {
      table.set(/^\d+$/.test(name) ? BigInt(name) : methodNumber(name), type)
    }
    tables.set(kind, table)
  }
  return table.get(method)
}
