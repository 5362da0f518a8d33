/** A local chain whose producers vote: light nodes follow its certificates alone, and what is final stays, through kills and orders. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-final-'))
const running: NodeProcess[] = []
afterAll(async () => {
  for (const one of running) await one.kill()
  rmSync(folder, { recursive: true, force: true })
})

interface Started {
  readonly node: NodeProcess
  readonly rpc: RpcClient
}

async function start(name: string, args: readonly string[]): Promise<Started> {
  const node = await startNode('node', join(folder, name), [...args, '--api', '0'])
  running.push(node)
  return { node, rpc: new RpcClient(node.url, node.token) }
}

const produce = (...more: string[]): Promise<Started> =>
  start('producer', ['devnet', '--block-time', '0.3', '--actors', 'native', '--miners', '3', ...more])

async function finalEpoch(rpc: RpcClient): Promise<number> {
  if (!(await rpc.call('F3IsRunning'))) return -1
  return (await rpc.call('F3GetLatestCertificate'))?.ECChain.at(-1).Epoch ?? -1
}

it('light nodes follow it from the genesis on, and what is final stays', { timeout: 120_000 }, async () => {
  const first = await produce('--f3', '10')
  const { ID, Addrs } = await first.rpc.call('NetAddrsListen')
  const address = `${Addrs.find((one: string) => /^\/ip4\/127.*\/tcp\/\d+$/.test(one))}/p2p/${ID}`
  await until(async () => (await finalEpoch(first.rpc)) > 10, 'the first certificates')
  const network = join(folder, 'producer', 'network.json')
  const light = await start('light', [
    ...['daemon', '--validate', 'light', '--network', network, '--bootstrap', address],
    ...['--listen', '/ip4/127.0.0.1/tcp/0'],
  ])
  const proven = async (): Promise<number> => (await light.rpc.call('LightStatus')).Final.Epoch
  const now = await finalEpoch(first.rpc)
  await until(async () => (await proven()) > now, 'what was made final since')
  const { Final: final } = await light.rpc.call('LightStatus')
  const tipset = await first.rpc.call('ChainGetTipSetByHeight', final.Epoch, null)
  expect(final.Key).toEqual(tipset.Cids)
  const [account] = await first.rpc.call('DevnetAccounts')
  const balance = await first.rpc.call('StateGetActor', account.Address, tipset.Cids)
  expect(await light.rpc.call('StateGetActor', account.Address, final.Key)).toEqual(balance)

  // A branch that leaves what is final is refused, and the chain goes on as it was.
  await expect(first.rpc.call('DevnetMine', 0, { fork: 12 })).rejects.toThrow(
    /^Cannot fork 12 epochs: the chain up to epoch \d+ is final/,
  )
  const then = await finalEpoch(first.rpc)
  await until(async () => (await finalEpoch(first.rpc)) > then, 'a certificate after it')

  // Started anew without a word of it, it goes on where it was.
  const last = await first.rpc.call('F3GetLatestCertificate')
  await first.node.kill()
  const second = await produce()
  expect((await second.rpc.call('F3GetCertificate', last.GPBFTInstance)).Signature).toBe(last.Signature)
  await until(async () => (await finalEpoch(second.rpc)) > last.ECChain.at(-1).Epoch, 'a new certificate')
  await until(async () => (await proven()) > last.ECChain.at(-1).Epoch, 'a light node that goes on')
  await second.node.stop()
  await expect(produce('--f3', '500')).rejects.toThrow('its producers vote on finality from epoch 10 on')
})
