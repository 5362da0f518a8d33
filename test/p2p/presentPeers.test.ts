/** What a peer sent that left before its turn came. */
import { afterEach, expect, it } from 'vitest'
import { messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { onlyPresentPeers } from '../../src/p2p/host/presentPeers.ts'
import type { Router } from '../../src/p2p/host/router.ts'
import { connect, NETWORK, startHost, stopHosts, until } from './testHosts.ts'

const MESSAGES = messagesTopic(NETWORK)

afterEach(stopHosts)

interface Inside {
  readonly streamsOutbound: ReadonlyMap<string, unknown>
  readonly peers: ReadonlyMap<string, unknown>
  sendRpc(peer: string, rpc: object): boolean
  validateReceivedMessage(): Promise<object>
  handleReceivedRpc(from: unknown, rpc: object): Promise<void>
}

it('a peer that leaves while the messages before its GRAFT are checked is not in the mesh', async () => {
  const [host, leaver] = [await startHost(), await startHost()]
  host.pubsub.join(MESSAGES, () => 'ignore')
  const [ours, theirs] = [host, leaver].map(({ parts }) => parts.router as unknown as Inside) as [Inside, Inside]
  await connect(leaver, host)
  await until(() => theirs.streamsOutbound.has(host.id) && ours.streamsOutbound.has(leaver.id), 'streams')
  let check = (): void => undefined
  let checking = false
  const checked = new Promise<void>((done) => {
    check = done
  })
  ours.validateReceivedMessage = async () => {
    checking = true
    await checked
    return { code: 'invalid', reason: 'blacklisted', msgIdStr: 'id' }
  }
  let handled = false
  const handle = ours.handleReceivedRpc.bind(ours)
  ours.handleReceivedRpc = async (from, rpc) => {
    await handle(from, rpc)
    handled = true
  }
  theirs.sendRpc(host.id, {
    subscriptions: [],
    messages: [{ topic: MESSAGES, data: new Uint8Array(1) }],
    control: { ihave: [], iwant: [], graft: [{ topicID: MESSAGES }], prune: [], idontwant: [] },
  })
  await until(() => checking, 'the message is checked')
  await leaver.stop()
  await until(() => ours.peers.size === 0, 'it is gone')
  check()
  await until(() => handled, 'the rest')
  expect(host.parts.router.getMeshPeers(MESSAGES)).toEqual([])
  expect(host.parts.tags.value(leaver.id)).toBe(0)
})

it('nothing that changes a table is done for a peer that is not there', async () => {
  const done: string[] = []
  const router = {
    peers: new Map([['here', 'here']]),
    handleReceivedRpc: async (from: string) => void done.push(`rpc ${from}`),
    handleControlMessage: async (from: string) => void done.push(`control ${from}`),
    handleIdontwant: (from: string) => void done.push(`idontwant ${from}`),
  }
  onlyPresentPeers(router as unknown as Router)
  for (const peer of ['gone', 'here']) {
    await router.handleReceivedRpc(peer)
    await router.handleControlMessage(peer)
    router.handleIdontwant(peer)
  }
  expect(done).toEqual(['rpc here', 'control here', 'idontwant here'])
  expect(() => onlyPresentPeers({} as Router)).toThrow('handleReceivedRpc')
})
