/** The method table of a node: every row against Lotus' list of methods. Who may call them: whoMay.slow.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRecorded, type RecordedNode } from '../../scripts/golden/openRecorded.ts'
import type { ApiVersion } from '../../src/rpc/method.ts'
import type { MethodTable } from '../../src/rpc/table.ts'
import { missingShared, readSharedJson, sharedPath } from '../support/shared.ts'

interface Reference {
  readonly name: string
  readonly aliasOf?: string
  readonly versions: readonly ApiVersion[]
  readonly alsoServedOn?: readonly ApiVersion[]
  readonly perm: string
  readonly params: readonly { readonly name: string; readonly type: string }[]
  readonly result: string
  readonly variants?: Readonly<Record<string, { readonly params: readonly { readonly type: string }[] }>>
}

/** Methods that change something and may run again from their beginning: what they do comes last, or is the same the second time. */
const AGAIN = ['ChainSetHead', 'ChainValidateIndex', 'MinerCreateBlock', 'SyncCheckpoint', 'SyncSubmitBlock']
/** Methods that everybody may call, and that must not. */
const ONCE = [
  ...['EthSendRawTransaction', 'EthSendRawTransactionUntrusted'],
  ...['PaychVoucherCheckSpendable', 'PaychVoucherCheckValid'],
]

/** Rows that Lotus does not have. */
const OWN: ReadonlySet<string> = new Set([
  'ChainGetTransfers',
  'ChainGetTransfersSince',
  'ChainListTransfers',
  'ChainListMessages',
  'ChainListLogs',
  'AuthNewToken',
  'AuthRevoke',
  'MpoolExplain',
  'LightStatus',
  'SyncPresumed',
])
const missing = missingShared('data/golden/nv17/chain.car.zst')

describe.skipIf(missing !== undefined)('method table', () => {
  let node: RecordedNode
  let table: MethodTable
  beforeAll(async () => {
    node = await openRecorded(sharedPath('data/golden/nv17'))
    table = node.node.table
  })
  afterAll(() => node?.close())

  it('agrees with the list of Lotus methods', () => {
    const reference = new Map(readSharedJson<Reference[]>('reference/rpc-methods.json').map((one) => [one.name, one]))
    const failures: string[] = []
    for (const version of ['v0', 'v1', 'v2'] as const) {
      for (const row of table.list(version)) {
        const listed = reference.get(row.name)
        if (listed === undefined) {
          if (!OWN.has(row.name)) failures.push(`${version} ${row.name} is not in the list`)
          continue
        }
        if (listed.perm !== row.perm)
          failures.push(`${version} ${row.name}: permission ${row.perm}, not ${listed.perm}`)
        const params = listed.variants?.[version]?.params ?? listed.params
        if (row.kind !== 'raw' && params.length !== row.params.length) {
          failures.push(`${version} ${row.name}: ${row.params.length} parameters, not ${params.length}`)
        }
        const isChannel = listed.result.startsWith('Channel<')
        if (isChannel !== (row.kind === 'channel')) failures.push(`${row.name}: channel or not`)
        const served = listed.versions.includes(version) || (version === 'v0' && listed.versions.includes('v1'))
        if (!served) failures.push(`${row.name} must not be served on ${version}`)
      }
    }
    expect(failures).toEqual([])
  })

  it('runs once, whatever blocks it misses, what would do something twice', () => {
    const again: string[] = []
    const once: string[] = []
    for (const { name, perm, runsOnce } of table.list('v1')) {
      if (perm === 'read' && runsOnce) once.push(name)
      // Drafts there; on v0 they send.
      if (perm !== 'read' && !runsOnce && !name.startsWith('Msig')) again.push(name)
    }
    expect(again).toEqual(AGAIN)
    expect(once).toEqual(ONCE)
    const drafts = table.list('v1').filter(({ name, perm }) => name.startsWith('Msig') && perm === 'sign')
    expect(drafts.map(({ runsOnce }) => runsOnce)).toEqual(drafts.map(() => false))
    const sends = table.list('v0').filter(({ name, perm }) => name.startsWith('Msig') && perm === 'sign')
    expect(sends.filter(({ runsOnce }) => !runsOnce).map(({ name }) => name)).toEqual(['MsigCancelTxnHash'])
  })

  it('serves every name that Lotus serves, on the same paths', () => {
    const missing = new Set<string>()
    for (const listed of readSharedJson<Reference[]>('reference/rpc-methods.json')) {
      const full = listed.aliasOf === undefined ? `Filecoin.${listed.name}` : listed.name
      for (const version of [...listed.versions, ...(listed.alsoServedOn ?? [])]) {
        if (table.find(version, full) === undefined) missing.add(full)
      }
    }
    expect([...missing]).toEqual([])
  })

  it('has every method of the exchange interface on v0 under both names', () => {
    const names =
      'ChainHead ChainGetTipSetByHeight ChainGetParentMessages WalletNew WalletBalance MpoolPushMessage MpoolPending ' +
      'WalletSign MpoolPush StateReplay StateCompute GasEstimateMessageGas'
    for (const name of names.split(' ')) {
      expect(table.find('v0', `Node.${name}`), name).toBeDefined()
      expect(table.find('v0', `Filecoin.${name}`), name).toBe(table.find('v0', `Node.${name}`))
    }
  })
})
