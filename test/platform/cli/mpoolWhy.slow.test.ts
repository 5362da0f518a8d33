/** `mpool why` of a real node's messages, from the pool to the receipt. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeProcess, startNode } from '../../runtimes/nodeProcess.ts'
import { RpcClient } from '../../support/rpcClient.ts'

describe('MpoolExplain', () => {
  const home = mkdtempSync(join(tmpdir(), 'petrel-why-'))
  let node: NodeProcess
  let client: RpcClient
  beforeAll(async () => {
    node = await startNode('node', home, ['devnet', '--api', '0', '--no-net', '--manual', '--actors', 'native'])
    client = new RpcClient(node.url, node.token)
  })
  afterAll(async () => {
    await node.stop()
    rmSync(home, { recursive: true })
  })

  it('follows a message, by either of its CIDs, from the pool into a block and to its receipt', async () => {
    const from = await client.call('WalletDefaultAddress')
    const draft = {
      Version: 0,
      From: from,
      To: from,
      Value: '1',
      Nonce: 0,
      GasLimit: 0,
      GasFeeCap: '0',
      GasPremium: '0',
    }
    const sent = await client.call('MpoolPushMessage', { ...draft, Method: 0, Params: null }, null)
    const signed = sent.CID
    const unsigned = sent.Message.CID
    expect(signed).not.toEqual(unsigned)
    const states = async () =>
      await Promise.all(
        [signed, unsigned].map(async (one) => {
          const {
            State: state,
            Height: height,
            ExitCode: exitCode,
            Message: message,
          } = await client.call('MpoolExplain', one)
          expect(message).toEqual(signed)
          return [state, height, exitCode]
        }),
      )
    expect(await states()).toEqual([
      ['pending', null, null],
      ['pending', null, null],
    ])
    const { Height: included } = await client.call('DevnetMine', 1, null)
    expect(await states()).toEqual([
      ['included', included, null],
      ['included', included, null],
    ])
    const { Height: executed } = await client.call('DevnetMine', 1, null)
    expect(await states()).toEqual([
      ['executed', executed, 0],
      ['executed', executed, 0],
    ])
  })
})
