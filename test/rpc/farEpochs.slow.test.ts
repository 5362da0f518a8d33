/**
 * Epochs that no chain will ever have, asked for by a stranger: each is refused, with the reason, and the chain goes on. One such call
 * once took all of the heap in a minute, another kept the node from its next block for as long as its caller stayed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type NodeProcess, startLocalChain } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'

const FAR = 4_294_967_296
const folder = mkdtempSync(join(tmpdir(), 'petrel-far-'))
let node: NodeProcess
let stranger: RpcClient

beforeAll(async () => {
  node = await startLocalChain(folder)
  stranger = new RpcClient(node.url)
}, 90_000)
afterAll(async () => {
  await node?.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('an epoch that is far away', () => {
  for (const [method, paramsFor, reason] of [
    ['MinerGetBaseInfo', (key) => ['t01000', FAR, key], /epoch 4294967296|too far/],
    ['StateCompute', (key) => [FAR, [], key], /4294967296 is too far above/],
    ['StateGetRandomnessFromTickets', (key) => [1, FAR, 'AA==', key], /future/],
    ['StateGetRandomnessFromBeacon', (key) => [1, FAR, 'AA==', key], /future/],
    ['ChainGetTipSetByHeight', (key) => [FAR, key], /height greater than start point/],
    ['EthGetBlockByNumber', () => ['0x100000000', false], /future epoch/],
    ['EthGetLogs', () => [{ fromBlock: '0x0', toBlock: '0x100000000' }], /exceeds maximum/],
    ['EthFeeHistory', () => ['0x100000000', 'latest', []], /smaller than 1024/],
  ] as const satisfies readonly (readonly [string, (key: unknown) => unknown[], RegExp])[]) {
    test(`is refused by ${method}`, async () => {
      const { Cids, Height } = await stranger.call('ChainHead')
      await expect(stranger.call(method, ...paramsFor(Cids))).rejects.toThrow(reason)
      await until(async () => (await stranger.call('ChainHead')).Height > Height, 'the chain goes on')
    }, 60_000)
  }

  // The mock of Lotus: BLAKE2b-256 of the round as eight bytes, 100 above the epoch. By Python's hashlib.
  test('has an entry of the local beacon', async () => {
    const Data = 'IhxEdTN0rtUyD6dQr9njeeC+4c7xN1KjT6jMZwcLnfY='
    expect(await stranger.call('StateGetBeaconEntry', FAR)).toEqual({ Round: FAR + 100, Data })
  })
})
