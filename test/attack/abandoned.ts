/**
 * Every call that costs much, asked of a large state and left alone: from when on does the node work for nobody? By hand:
 *
 *     npm run generate -- mainnet-size <folder> --scale 0.02 --epochs 120 --messages 150
 *     node test/attack/abandoned.ts <folder> [part of a method's name]
 *
 * What is answered sooner than anybody could leave it is named with its time. Each is left by HTTP (the connection ends), by WebSocket, and
 * by a cancellation on a WebSocket that stays. It ends with 1 where the node worked for nobody for longer than 100 ms.
 * Beside the call alone a stranger asks for the head: the longest that it waits stands there, too.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { allSignatures } from '../../scripts/docs/reference.ts'
import { CHAIN_FILE, NETWORK_FILE } from '../../scripts/generate/mainnetSize/files.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { ACTORS } from '../support/actors.ts'
import { processorMs } from '../support/processorTime.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'

const [folder, wanted = ''] = process.argv.slice(2)
if (folder === undefined) throw new RangeError('usage: abandoned.ts <folder> [part of a name]')
/** So long a caller waits before it goes. */
const PATIENCE_MS = 60
/** Of one call alone; what takes longer is not waited for. */
const LONGEST_MS = 30_000
/** The node is watched for so long after its caller has gone. */
const WATCHED_MS = 1500
const POLL_MS = 20
/** The kernel counts in steps of 10 ms; one of them is what an idle node spends. */
const IDLE_MS = 20
/** Longest that it may work for nobody, ms. */
const LONGEST_BUSY_MS = 100
const CALLERS = 4
/** An actor by its ID, as Ethereum writes it. */
const CONTRACT = `0xff${'00'.repeat(11)}${(1000).toString(16).padStart(16, '0')}`

interface Target {
  readonly head: Answer
  readonly key: Answer
  readonly genesis: Answer
  readonly tail: Answer
  readonly miner: string
  readonly sender: string
  readonly message: Answer
  readonly transaction: string
  readonly filter: string
  readonly events: Answer
}

function questions({
  head,
  key,
  genesis,
  tail,
  miner,
  sender,
  message,
  transaction,
  filter,
  events,
}: Target): Record<string, unknown[]> {
  const send = { From: sender, To: sender, Value: '1' }
  const last = `0x${(head.Height - 1).toString(16)}`
  const range = { fromBlock: '0x0', toBlock: 'latest' }
  const call = [{ data: '0x5b5a50600056' }, 'latest']
  const state = head.Blocks[0].ParentStateRoot
  const old = tail.Blocks[0].ParentStateRoot
  return {
    EthCall: call,
    EthEstimateGas: call,
    EthGetStorageAt: [CONTRACT, '0x0', 'latest'],
    EthTraceBlock: [last],
    EthTraceFilter: [{ ...range, count: 500 }],
    EthTraceReplayBlockTransactions: [last, ['trace']],
    EthTraceTransaction: [transaction],
    GasEstimateGasLimit: [{ ...send, Method: 0, Params: null }, key],
    GasEstimateMessageGas: [send, null, key],
    StateCall: [{ ...send, Method: 0, Params: null }, key],
    StateCompute: [head.Height + 100, [], key],
    StateReplay: [tail.Cids, message],
    ChainGetPath: [genesis.Cids, key],
    ChainGetTransfers: [tail.Cids],
    ChainGetTransfersSince: [genesis.Cids, 1, 1000],
    ChainListLogs: [sender, 0, head.Height, '', 1000],
    ChainListMessages: [sender, 0, head.Height, '', 1000],
    ChainListTransfers: [sender, 0, head.Height, '', 1000],
    ChainStatObj: [state, null],
    EthFeeHistory: ['0x400', 'latest', [25, 50, 75]],
    ChainGetEvents: [events],
    EthGetBlockReceipts: [last],
    EthGetBlockReceiptsLimited: [last, 1000],
    EthGetFilterLogs: [filter],
    EthGetLogs: [range],
    EthNewFilter: [range],
    GasEstimateGasPremium: [10, sender, 10_000, key],
    GetActorEventsRaw: [{ fromHeight: 0, toHeight: head.Height }],
    MinerGetBaseInfo: [miner, head.Height + 800, key],
    MpoolCheckMessages: [[{ Message: { ...send, Method: 0, Params: null }, ValidNonce: false }]],
    MpoolCheckPendingMessages: [sender],
    MpoolExplain: [message],
    MpoolPending: [key],
    MpoolSelect: [key, 0.5],
    StateChangedActors: [old, state],
    StateCirculatingSupply: [key],
    StateComputeDataCID: [miner, 8, [1], key],
    StateGetAllAllocations: [key],
    StateGetAllocations: [sender, key],
    StateGetAllClaims: [key],
    StateGetClaims: [miner, key],
    StateListActors: [key],
    StateListMessages: [{ To: sender }, key, 0],
    StateListMiners: [key],
    StateLookupRobustAddress: ['t01000', key],
    StateMarketDeals: [key],
    StateMarketParticipants: [key],
    StateMinerActiveSectors: [miner, key],
    StateMinerAvailableBalance: [miner, key],
    StateMinerDeadlines: [miner, key],
    StateMinerFaults: [miner, key],
    StateMinerPartitions: [miner, 0, key],
    StateMinerRecoveries: [miner, key],
    StateMinerSectors: [miner, null, key],
    StateReadState: ['t04', key],
    StateSearchMsg: [key, message, -1, true],
    StateSectorExpiration: [miner, 1, key],
    StateSectorPartition: [miner, 1, key],
    StateVMCirculatingSupplyInternal: [key],
    ChainValidateIndex: [head.Height - 2, false],
    WalletVerify: [sender, 'AQIDBA==', { Type: 1, Data: 'A'.repeat(128) }],
    ChainExportRangeInternal: [
      key,
      genesis.Cids,
      { IncludeMessages: true, IncludeReceipts: true, IncludeStateRoots: true },
    ],
  }
}

async function target(rpc: RpcClient): Promise<Target> {
  const head = await rpc.call('ChainHead')
  const genesis = await rpc.call('ChainGetGenesis')
  const tail = await rpc.call('ChainGetTipSetByHeight', head.Height - 20, head.Cids)
  const { SecpkMessages, BlsMessages } = await rpc.call('ChainGetBlockMessages', tail.Cids[0])
  const sent = [...SecpkMessages.map((one: Answer) => ({ ...one.Message, CID: one.CID })), ...BlsMessages][0]
  const miners = await rpc.call('StateListMiners', head.Cids)
  let [miner, most] = ['', -1]
  for (const one of miners.slice(0, 40)) {
    const { Live } = await rpc.call('StateMinerSectorCount', one, head.Cids)
    if (Live > most) [miner, most] = [one, Live]
  }
  console.log(`epoch ${head.Height}, ${miner} with ${most} sectors`)
  const transaction = await rpc.call('EthGetTransactionHashByCid', sent.CID)
  const receipts: Answer[] = await rpc.call('ChainGetParentReceipts', head.Cids[0])
  const events = receipts.find(({ EventsRoot }) => EventsRoot !== null)?.EventsRoot
  const filter = await rpc.call('EthNewFilter', { fromBlock: '0x0', toBlock: 'latest' })
  return {
    head,
    key: head.Cids,
    genesis,
    tail,
    miner,
    sender: sent.From,
    message: sent.CID,
    transaction,
    filter,
    events,
  }
}

function body(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params })
}

/** The longest that a stranger waits for the head until `end` settles, ms. */
async function strangerBeside(node: NodeProcess, end: Promise<unknown>): Promise<number> {
  const stranger = new RpcClient(node.url)
  let [longest, isOpen] = [0, true]
  void end.finally(() => (isOpen = false))
  while (isOpen) {
    const began = performance.now()
    await stranger.call('ChainHead')
    longest = Math.max(longest, performance.now() - began)
    await sleep(POLL_MS)
  }
  return longest
}

/** What one call alone takes, ms, and how it ends. */
async function alone(node: NodeProcess, method: string, params: readonly unknown[]): Promise<[number, string]> {
  const began = performance.now()
  const post = (): Promise<Response> =>
    fetch(`${node.url}/rpc/v1`, {
      ...{ method: 'POST', body: body(method, params), signal: AbortSignal.timeout(LONGEST_MS) },
      headers: { authorization: `Bearer ${node.token}` },
    })
  try {
    const text = await (await post()).text()
    const wrong = /"error":\{"code":-?\d+,"message":"([^"]*)/.exec(text.slice(0, 1000))?.[1]
    return [performance.now() - began, wrong === undefined ? `${text.length} bytes` : `refused: ${wrong}`]
  } catch (error) {
    return [performance.now() - began, String(error)]
  }
}

function leaveHttp(node: NodeProcess, text: string): () => void {
  const agent = new Agent()
  for (let i = 0; i < CALLERS; i++) {
    const headers = { authorization: `Bearer ${node.token}`, 'Content-Length': text.length }
    const call = request(`${node.url}/rpc/v1`, { agent, method: 'POST', headers }, (answer) => answer.resume())
    call.on('error', () => undefined)
    call.end(text)
  }
  return () => agent.destroy()
}

function askBySocket(node: NodeProcess, text: string): WebSocket[] {
  return Array.from({ length: CALLERS }, () => {
    const headers = { authorization: `Bearer ${node.token}` }
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/rpc/v1`, { headers })
    socket.on('open', () => socket.send(text))
    socket.on('error', () => undefined)
    return socket
  })
}

function leaveSocket(node: NodeProcess, text: string): () => void {
  const sockets = askBySocket(node, text)
  return () => {
    for (const socket of sockets) socket.terminate()
  }
}

/** The sockets stay open. @see go-jsonrpc websocket.go wsCancel */
function cancelCall(node: NodeProcess, text: string): () => void {
  const sockets = askBySocket(node, text)
  return () => {
    for (const socket of sockets) socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'xrpc.cancel', params: [1] }))
  }
}

const WAYS = { 'by HTTP': leaveHttp, 'by WebSocket': leaveSocket, cancelled: cancelCall } as const

/** How long the node is busy after its callers have gone, ms: the shorter of two, for other work falls into one. */
async function busyAfter(node: NodeProcess, text: string, begin: typeof leaveHttp): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 2; i++) {
    const leave = begin(node, text)
    await sleep(PATIENCE_MS)
    leave()
    const began = performance.now()
    let [busyMs, spent] = [0, processorMs(node.pid)]
    while (performance.now() - began < WATCHED_MS) {
      await sleep(POLL_MS)
      const now = processorMs(node.pid)
      if (now - spent >= IDLE_MS) busyMs = performance.now() - began
      spent = now
    }
    least = Math.min(least, busyMs)
  }
  return least
}

const home = mkdtempSync(join(tmpdir(), 'petrel-abandoned-'))
mkdirSync(join(home, 'node'))
symlinkSync(ACTORS, join(home, 'node', 'actors'))
const snapshot = ['--network', join(folder, NETWORK_FILE), '--snapshot', join(folder, CHAIN_FILE)]
const node = await startNode('node', join(home, 'node'), ['daemon', ...snapshot, '--api', '0', '--no-net'], 240_000)
try {
  // Until then it works for itself, a fifth of a core.
  while (!node.output().includes('noted where the messages')) await sleep(POLL_MS)
  const found = await target(new RpcClient(node.url, node.token))
  const asked = questions(found)
  for (const [method, params] of Object.entries(asked)) {
    if (!method.includes(wanted)) continue
    const call = alone(node, method, params)
    const waited = (await strangerBeside(node, call)).toFixed(0).padStart(5)
    const [ms, how] = await call
    await sleep(WATCHED_MS)
    const text = body(method, params)
    const left: string[] = []
    for (const [way, begin] of Object.entries(ms < PATIENCE_MS ? {} : WAYS)) {
      const busyMs = await busyAfter(node, text, begin)
      if (busyMs > LONGEST_BUSY_MS) process.exitCode = 1
      left.push(`${way} busy for ${busyMs.toFixed(0)} ms`)
    }
    console.log(
      `${method.padEnd(34)} ${ms.toFixed(0).padStart(6)} ms, ${how.slice(0, 60).padEnd(60)} ChainHead ${waited} ms ${left.join(', ')}`,
    )
  }
  const signatures = await allSignatures(join(import.meta.dirname, '../../src/rpc/signatures'))
  const dear = new Set(signatures.filter(({ cost }) => cost !== undefined && cost !== 'wait').map(({ name }) => name))
  console.log(`not asked: ${[...dear].filter((name) => !(name in asked)).join(', ')}`)
} finally {
  await node.stop()
  rmSync(home, { recursive: true, force: true })
}
