/**
 * A follower whose three honest peers are among 200 hostile ones. These claim heads that nobody has, with more weight than any chain,
 * join the topics and pass nothing on, and answer what they are asked with nothing, late, or with lies. The follower must stay on the
 * chain of the three. By hand:
 *
 *     node test/attack/eclipse.ts [--hostile 200] [--seconds 60] [--validate headers|light]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { RawPeer } from './rawPeer.ts'
import { attack, type Target, withTarget } from './target.ts'
import { pretend, useless } from './uselessPeer.ts'

const { values } = parseArgs({
  options: {
    hostile: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    validate: { type: 'string', default: 'execute' },
    child: { type: 'boolean', default: false },
    target: { type: 'string', default: '' },
    network: { type: 'string', default: '' },
    genesis: { type: 'string', default: '' },
    height: { type: 'string', default: '0' },
  },
})
const counts = { connected: 0, refused: 0, hellos: 0, asked: 0, thrownOut: 0, heldAtOnce: 0 }
const DIALS = 16

async function hostile(number: number, end: number): Promise<RawPeer> {
  const peer = await RawPeer.connect(values.target, useless(number, end, counts))
  counts.connected++
  const { network, genesis, height } = values
  void pretend(peer, { network, genesis, height: Number(height) }).catch(() => undefined)
  return peer
}

async function child(): Promise<void> {
  const end = performance.now() + 1000 * Number(values.seconds)
  const all = new Set<RawPeer>()
  let number = 0
  const keep = async (): Promise<void> => {
    while (performance.now() < end) {
      for (const one of all) {
        if (one.isConnected) continue
        counts.thrownOut++
        all.delete(one)
        await one.stop()
      }
      counts.heldAtOnce = Math.max(counts.heldAtOnce, all.size)
      if (all.size >= Number(values.hostile)) await sleep(100)
      else {
        try {
          all.add(await hostile(number++, end))
        } catch {
          counts.refused++
          await sleep(100)
        }
      }
    }
  }
  await Promise.race([Promise.all(Array.from({ length: DIALS }, keep)), sleep(1000 * Number(values.seconds) + 5000)])
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function main(target: Target): Promise<void> {
  const { victim, networkName } = target
  const genesis = (await victim.rpc.call('ChainGetGenesis')).Cids[0]['/']
  console.log(`${values.hostile} hostile peers`)
  const { Height: height } = await victim.rpc.call('ChainHead')
  const options = [
    '--target',
    victim.address,
    '--network',
    networkName,
    '--genesis',
    genesis,
    '--height',
    String(height),
  ]
  const seen = await attack(target, import.meta.filename, [
    ...options,
    ...['--hostile', values.hostile, '--seconds', values.seconds],
  ])
  assert.ok(seen.counts.connected >= Number(values.hostile), `only ${seen.counts.connected} hostile peers came`)
  assert.ok(seen.counts.asked > 0, 'none of them was asked for anything')
  console.log('the follower stayed with the three')
}

await (values.child ? child() : withTarget(2, main, { validate: values.validate }))
