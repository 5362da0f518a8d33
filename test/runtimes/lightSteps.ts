/**
 * A light tab over Lotus' recorded certificates: by RPC endpoints and by libp2p peers, honest ones beside liars. The page never
 * shows a false value as proven.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { fromHex } from '../../src/base/bytes.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { chainHead, type FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { bitFieldOf } from '../../src/ipld/bitfield.ts'
import { checkpointJson } from '../../src/light/checkpoint.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { delegatedAddress, NAMESPACE_EAM } from '../../src/types/address.ts'
import { missing } from '../consensus/f3/support.ts'
import { bigWorld } from '../light/bigWorld.ts'
import type { Bends } from '../light/endpoint.ts'
import { type PeerBends, startPeer } from '../light/peer.ts'
import { balanceAt, serveEndpoint } from '../light/served.ts'
import { flipped, recorded, type World, world } from '../light/world.ts'
import { stopHosts } from '../p2p/testHosts.ts'
import { missingBundle } from '../support/actors.ts'
import { sharedPath } from '../support/shared.ts'
import { evaluate } from './chromiumHost.ts'
import type { TabStep } from './chromiumSteps.ts'

const TIMEOUT_MS = 60_000
const LAST = 30
const FAR_MS = 100
/** A producer's account, whose balance changes with each block. */
const ADDRESS = 't01000'

interface Status {
  readonly Final: { readonly Instance: number; readonly Epoch: number } | null
  readonly HeadEpoch: number | null
  readonly Sources: readonly { readonly Name: string; readonly State: string; readonly Reason: string }[]
}

/** Until the tab's status is so. */
async function until(page: Page, isSo: (status: Status) => boolean): Promise<Status> {
  const end = Date.now() + TIMEOUT_MS
  for (;;) {
    const status = (await evaluate(page, `tab.request('Node.LightStatus')`)) as unknown as Status
    if (isSo(status)) return status
    assert.ok(Date.now() < end, JSON.stringify(status))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Starts a light tab, waits for the newest certificate and compares a balance at the final tipset. */
async function proves(page: Page, from: World, options: object): Promise<Status> {
  const network = readFileSync(sharedPath('data/golden/f3/network.json'), 'utf8')
  const node = { kind: 'follow', mode: 'light', network, genesis: '/genesis.car', ...options }
  await page.evaluate(`startTab(${JSON.stringify({ node, log: 'debug' })})`)
  const status = await until(page, ({ Final }) => Final?.Instance === LAST)
  const epoch = chainHead(from.all[LAST] as FinalityCertificate).epoch
  assert.equal(status.Final?.Epoch, epoch)
  const actor = await evaluate(
    page,
    `tab.request('Node.LightStatus').then(({ Final }) => tab.request('StateGetActor', ['${ADDRESS}', Final.Key]))`,
  )
  assert.equal((actor as unknown as { Balance: string }).Balance, balanceAt(epoch))
  return status
}

function dropped(status: Status, name: string): string | undefined {
  return status.Sources.find((one) => one.Name.includes(name) && one.State === 'dropped')?.Reason
}

const ENDPOINT_LIES: Readonly<Record<string, Bends>> = {
  'a wrong signature': { certificate: (one) => ({ ...one, signature: flipped(one.signature) }) },
  'wrong blocks': { block: (_, text) => `${text.slice(0, 8)}AAAA${text.slice(12)}` },
}

const PEER_LIES: Readonly<Record<string, PeerBends>> = {
  'a wrong signature': { certificate: (one) => ({ ...one, signature: flipped(one.signature) }) },
  'too little power': { certificate: (one) => ({ ...one, signers: bitFieldOf([...one.signers].slice(0, 1)) }) },
  'a wrong power table': { table: (table) => table.map((one) => ({ ...one, power: 1n })) },
  'a replayed instance': {
    certificate: (one) => ({ ...one, ecChain: one.ecChain.map((at) => ({ ...at, epoch: at.epoch + 1 })) }),
  },
  'wrong blocks': { block: (_, data) => flipped(data) },
  'withheld blocks': { block: () => undefined },
  'a stale head': { head: () => recorded().chain.view.store.genesis() },
}

async function inPage(
  chromium: Parameters<TabStep['run']>[0],
  run: (page: Page, from: World) => Promise<void>,
): Promise<void> {
  await initCrypto()
  const from = world(LAST)
  writeFileSync(join(chromium.folder, 'genesis.car'), from.genesisCar)
  const context = await chromium.browser.newContext()
  const log: string[] = []
  try {
    await run(await chromium.openPage(context, log), from)
  } catch (error) {
    console.log(log.slice(-20).join('\n'))
    throw error
  } finally {
    await context.close()
    await stopHosts()
  }
}

const BY_ENDPOINTS: readonly TabStep[] = Object.entries(ENDPOINT_LIES).map(([what, bends]) => ({
  name: `light: proves a balance by RPC endpoints, one of which gives ${what}`,
  run: (chromium) =>
    inPage(chromium, async (page, from) => {
      // The liar is nearer: it is asked first.
      const [liar, honest] = [await serveEndpoint(from, bends), await serveEndpoint(from, {}, FAR_MS)]
      try {
        await proves(page, from, { sources: [liar.url, honest.url], bootstrap: [] })
        const status = await until(page, (one) => dropped(one, liar.url) !== undefined)
        assert.equal(dropped(status, honest.url), undefined)
      } finally {
        liar.close()
        honest.close()
      }
    }),
}))

const BY_PEERS: readonly TabStep[] = Object.entries(PEER_LIES).map(([what, bends]) => ({
  name: `light: proves a balance by peers, one of which gives ${what}`,
  run: (chromium) =>
    inPage(chromium, async (page, from) => {
      const bootstrap = [await startPeer(from, bends), await startPeer(from)]
      await proves(page, from, { bootstrap })
    }),
}))

/**
 * A contract that returns what lies in its slot 0, in which its constructor wrote 42: its state as actors version 18 in Wasm left
 * it, in a chain that Lotus followed and executed.
 */
const CONTRACT_STATE = [
  '86d82a5827000155a0e40220e6e652d69735d67e1c731cd10dc4e00cf0c3a1f5478a07ae90e2f673a3d1b3a05820b652beaf2d74754067c0898af4667d2f' +
    '629e241971dc0cdaab1069a9ac7da709d82a5827000171a0e402209fe5edbdef78dc574528ffc680668363289eca5c760e78adfd3620db7cb67bc6f601f6',
  '82410181a16176818240412a',
].map(fromHex)
const CONTRACT_CODE = fromHex('60005460005260206000f3')
const CONTRACT = '0xe7c326b2f561d9f8fb32a234ed1917bfd74e315c'

const BY_CALLS: readonly TabStep[] = [
  {
    name: 'light: executes eth_call on proven state, through the provider',
    run: (chromium) =>
      inPage(chromium, async (page) => {
        const network = readFileSync(sharedPath('data/golden/f3/network.json'), 'utf8')
        const manifest = parseNetwork(parseJson(network)).manifests.find(({ actorsVersion }) => actorsVersion === 18)
        if (manifest === undefined) throw new Error('no manifest of version 18')
        const bundle = manifest.manifestCid.toString()
        const absent = missingBundle(bundle)
        if (absent !== undefined) {
          console.log(`     skipped: ${absent}`)
          return
        }
        const code = manifest.actors.get('evm')
        if (code === undefined) throw new Error('no code of contracts')
        const from = bigWorld(
          {
            ...{ signers: 7, certificates: 3, accounts: 2, deltaEvery: 2 },
            contract: {
              address: delegatedAddress(NAMESPACE_EAM, fromHex(CONTRACT.slice(2))),
              code,
              blocks: [
                ...CONTRACT_STATE.map((data) => [blockCid(data), data] as const),
                [blockCid(CONTRACT_CODE, CODEC_RAW), CONTRACT_CODE],
              ],
            },
          },
          () => undefined,
        )
        const served = await serveEndpoint(from)
        try {
          const node = {
            ...{
              kind: 'follow',
              mode: 'light',
              network,
              genesis: '/genesis.car',
              bootstrap: [],
              sources: [served.url],
            },
            ...{ bundles: [`/actors/${bundle}.car`], checkpoint: JSON.stringify(checkpointJson(from.checkpoint)) },
          }
          await page.evaluate(`startTab(${JSON.stringify({ node, log: 'debug' })})`)
          await until(page, ({ Final }) => Final?.Instance === 2)
          const call = { method: 'eth_call', params: [{ to: CONTRACT, data: '0x' }, 'finalized'] }
          const answer = await evaluate(page, `tab.provider.request(${JSON.stringify(call)})`)
          assert.equal(answer, `0x${'00'.repeat(31)}2a`)
        } finally {
          served.close()
        }
      }),
  },
]

/** All; none where the recording is absent. */
export const LIGHT_STEPS: readonly TabStep[] = missing === undefined ? [...BY_ENDPOINTS, ...BY_PEERS, ...BY_CALLS] : []
