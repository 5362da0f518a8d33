/** Petrel follows the Go peer, which serves a recorded chain and then gossips what comes after. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { ACTORS, missingBundle } from '../support/actors.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { readSharedText, readSharedUnpacked } from '../support/shared.ts'
import { until } from '../support/until.ts'
import { type GoPeer, startGoPeer, type TipsetNote } from './goPeer.ts'

/** The recorded chain: Lotus has executed it. */
export const RECORDED = 'data/golden/live'
export const NETWORK_NAME = 'petrel-devnet'
/** Tipsets that come by gossip rather than by chain exchange. */
const WITHHELD = 5
/** A chain of some 340 epochs: headers in seconds, execution in a minute on a loaded machine. */
const FOLLOW_MS = 300_000

/** Files of the recorded chain, unpacked. */
export interface RecordedFiles {
  readonly car: string
  readonly network: string
  remove(): void
}

export function unpackRecorded(): RecordedFiles {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-recorded-'))
  const files = { car: join(folder, 'chain.car'), network: join(folder, 'network.json') }
  writeFileSync(files.car, readSharedUnpacked(`${RECORDED}/chain.car.zst`))
  writeFileSync(files.network, readSharedText(`${RECORDED}/network.json`))
  return { ...files, remove: () => rmSync(folder, { recursive: true }) }
}

/** The actors of that chain, by their manifest. */
function actorsOf(): string {
  const { builtinActors } = JSON.parse(readSharedText(`${RECORDED}/network.json`)) as {
    builtinActors: { manifests: { manifestCid: string }[] }
  }
  return builtinActors.manifests.at(-1)?.manifestCid as string
}

/** Why nothing of that chain can be executed on this machine. */
export function executionMissing(): string | undefined {
  return missingBundle(actorsOf())
}

export interface Followed {
  readonly peer: GoPeer
  readonly node: NodeProcess
  readonly rpc: RpcClient
}

/** A Go peer with the recorded chain and a node that knows it alone; runs `steps` between them. */
export async function followRecorded(
  run: { program: string; files: RecordedFiles; runtime: string; validate: 'headers' | 'execute' },
  steps: (followed: Followed) => Promise<void>,
): Promise<void> {
  const peer = await startGoPeer(run.program, { chain: run.files.car, network: NETWORK_NAME, withhold: WITHHELD })
  const home = mkdtempSync(join(tmpdir(), 'petrel-interop-'))
  const listen = ['--listen', '/ip4/127.0.0.1/tcp/0', '--bootstrap', peer.address('/tcp/')]
  const args = ['daemon', '--api', '0', '--network', run.files.network, '--validate', run.validate, ...listen]
  if (run.validate === 'execute') {
    mkdirSync(join(home, 'actors'))
    copyFileSync(join(ACTORS, `${actorsOf()}.car`), join(home, 'actors', `${actorsOf()}.car`))
  }
  let node: NodeProcess | undefined
  try {
    node = await startNode(run.runtime, home, args)
    await steps({ peer, node, rpc: new RpcClient(node.url, node.token) })
  } catch (error) {
    console.log(node?.output().split('\n').slice(-30).join('\n'))
    console.log(JSON.stringify(await peer.stats()))
    throw error
  } finally {
    await node?.kill()
    await peer.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

/** Until the node's head is the peer's. */
export async function agree({ peer, rpc }: Pick<Followed, 'peer' | 'rpc'>): Promise<TipsetNote> {
  let head = (await peer.call('head')) as TipsetNote
  await until(
    async () => {
      head = (await peer.call('head')) as TipsetNote
      const { Cids } = await rpc.call('ChainHead')
      return JSON.stringify(Cids.map((one: { '/': string }) => one['/'])) === JSON.stringify(head.cids)
    },
    () => `the node is at the Go peer's head ${head.height}`,
    FOLLOW_MS,
  )
  return head
}

/** The chain by chain exchange, then block after block by gossip; hello both ways, and nobody is turned away. */
export async function followsRecordedChain(followed: Followed): Promise<void> {
  const { peer, rpc } = followed
  await agree(followed)
  // The blocks topic is meshed when each side has told the other of it: gossip before that is lost by design.
  for (let at = 0; at < WITHHELD; at++) {
    const tipset = (await peer.call('next')) as TipsetNote
    assert.ok(tipset.cids.length > 0)
    await agree(followed)
  }
  assert.equal(await peer.call('next'), null)
  const { counts, errors } = await peer.stats()
  assert.deepEqual(errors, [])
  assert.ok((counts['hello heard'] ?? 0) >= 1, JSON.stringify(counts))
  assert.ok((counts['hello answered'] ?? 0) >= 1, JSON.stringify(counts))
  const peers = await rpc.call('NetPeers')
  assert.deepEqual(
    peers.map((one: { ID: string }) => one.ID),
    [peer.id],
  )
}

/** State that only the peer has, by bitswap, is what Lotus answered about it. */
export async function readsRecordedState({ rpc }: Followed): Promise<void> {
  const questions = readSharedUnpacked(`${RECORDED}/chain.jsonl.zst`)
  const rows = new TextDecoder()
    .decode(questions)
    .split('\n')
    .filter((line) => line.includes('Filecoin.StateGetActor"'))
    .slice(0, 40)
    .map((line) => JSON.parse(line) as { request: { params: unknown[] }; response: { result?: unknown } })
  assert.ok(rows.length > 0)
  for (const { request, response } of rows) {
    if (response.result === undefined) continue
    assert.deepEqual(await rpc.call('StateGetActor', ...request.params), response.result)
  }
}
