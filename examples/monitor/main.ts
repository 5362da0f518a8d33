/** The page: one monitor, its views, the choice of a node. */

import { connectServer } from './connect/server.ts'
import { connectTab } from './connect/tab.ts'
import { serverUrl, type Target, targetOfHash } from './connect/target.ts'
import type { Connection } from './model/connection.ts'
import type { Part } from './model/deps.ts'
import { Monitor } from './model/monitor.ts'
import { AttentionPanel } from './view/attentionPanel.ts'
import { startConnectDialog } from './view/connectDialog.ts'
import { byId, h } from './view/dom.ts'
import { EpochTable } from './view/epochTable.ts'
import { FeeChart } from './view/feeChart.ts'
import { FinalityStrip } from './view/finalityStrip.ts'
import { showClock, showHead } from './view/headStrip.ts'
import { showLight } from './view/lightPanel.ts'
import { LimitsForm } from './view/limitsForm.ts'
import { showNotices } from './view/notices.ts'
import { PeersPanel } from './view/peersPanel.ts'
import { PoolPanel } from './view/poolPanel.ts'
import { Sheet } from './view/sheet.ts'
import { SOURCE_MEANINGS, SOURCE_NAMES, sourceTag } from './view/source.ts'
import { startTheme } from './view/theme.ts'
import { TrackPanel } from './view/trackPanel.ts'
import { WatchPanel } from './view/watchPanel.ts'

const CLOCK_MS = 250
/** How often the clock alone may bring something that needs attention. */
const ATTENTION_TICKS = 4

/** The node that served the page, unless its address names another. */
function defaultTarget(): Target {
  const named = document.querySelector<HTMLMetaElement>('meta[name="petrel-node"]')?.content
  const url = serverUrl(named ?? location.origin)
  return url === undefined ? { kind: 'local' } : { kind: 'server', url }
}

const target = targetOfHash(location.hash) ?? defaultTarget()

function connect(onClosed: () => void): Promise<Connection> {
  return target.kind === 'server' ? connectServer(target.url, onClosed) : connectTab(target, onClosed)
}

const monitor = new Monitor({
  connect,
  storage: localStorage,
  nowMs: () => Date.now(),
  setTimer: (run, ms) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  changed,
})

const epochs = new EpochTable(monitor)
const finality = new FinalityStrip(monitor)
const chart = new FeeChart(monitor)
const watch = new WatchPanel(monitor)
const limits = new LimitsForm(monitor)
const tracks = new TrackPanel(monitor)
const pool = new PoolPanel(monitor)
const peers = new PeersPanel(monitor)
const attention = new AttentionPanel(monitor)
new Sheet(monitor)

const SHOW: Readonly<Record<Part, () => void>> = {
  link: () => {
    showNotices(monitor)
    showHead(monitor)
    pool.show()
    watch.show()
    peers.show()
    attention.show()
    showAbout()
  },
  head: () => {
    showHead(monitor)
    showNotices(monitor)
    attention.show()
  },
  epochs: () => {
    epochs.show()
    finality.show()
    chart.show()
    showHead(monitor)
  },
  fees: () => chart.show(),
  pool: () => {
    pool.show()
    showHead(monitor)
  },
  watch: () => {
    watch.show()
    limits.show()
    attention.show()
  },
  messages: () => tracks.show(),
  attention: () => {
    attention.show()
    chart.show()
  },
  peers: () => {
    peers.show()
    showHead(monitor)
  },
  light: () => {
    showLight(monitor)
    showNotices(monitor)
    finality.show()
  },
}

const dirty = new Set<Part>()

/** Changes are drawn once per frame. */
function changed(part: Part): void {
  if (dirty.size === 0) requestAnimationFrame(draw)
  dirty.add(part)
}

function draw(): void {
  const parts = [...dirty]
  dirty.clear()
  for (const part of parts) SHOW[part]()
}

function showAbout(): void {
  const { info } = monitor
  const presumed = info === undefined || info.presumed === '' ? '' : ` Storage proofs are ${info.presumed}.`
  const where = target.kind === 'server' ? target.url : 'a node in this tab'
  byId('about').textContent =
    `Asked: ${where}${info === undefined ? '' : `, ${info.agent}, ${info.blockDelay} s per epoch`}.${presumed}`
}

byId('sources').append(
  ...(['proven', 'peer', 'server'] as const).flatMap((source) => [
    h('dt', { 'aria-label': SOURCE_NAMES[source] }, sourceTag(source)),
    h('dd', {}, SOURCE_MEANINGS[source]),
  ]),
)
startTheme()
startConnectDialog(target)
monitor.start()
for (const part of Object.keys(SHOW) as Part[]) changed(part)
let ticks = 0
setInterval(() => {
  showClock(monitor, Date.now())
  showNotices(monitor)
  if (ticks++ % ATTENTION_TICKS === 0) attention.show()
}, CLOCK_MS)
addEventListener('online', () => monitor.retry())
