/** The page: one monitor, its views, the choice of a node. */

import { connectServer } from './connect/server.ts'
import { connectTab } from './connect/tab.ts'
import { hashOf, lightSources, serverUrl, type Target, targetOfHash } from './connect/target.ts'
import type { Connection } from './model/connection.ts'
import { Monitor, type Part } from './model/monitor.ts'
import { byId, h } from './view/dom.ts'
import { EpochTable } from './view/epochTable.ts'
import { FeeChart } from './view/feeChart.ts'
import { showClock, showHead } from './view/headStrip.ts'
import { showLight } from './view/lightPanel.ts'
import { showNotices } from './view/notices.ts'
import { PeersPanel } from './view/peersPanel.ts'
import { PoolPanel } from './view/poolPanel.ts'
import { SOURCE_MEANINGS, SOURCE_NAMES, sourceTag } from './view/source.ts'
import { startTheme } from './view/theme.ts'
import { TrackPanel } from './view/trackPanel.ts'
import { WatchPanel } from './view/watchPanel.ts'

const CLOCK_MS = 250

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
const chart = new FeeChart(monitor)
const watch = new WatchPanel(monitor)
const tracks = new TrackPanel(monitor)
const pool = new PoolPanel(monitor)
const peers = new PeersPanel(monitor)

const SHOW: Readonly<Record<Part, () => void>> = {
  link: () => {
    showNotices(monitor)
    pool.show()
    watch.show()
    peers.show()
    showAbout()
  },
  head: () => {
    showHead(monitor)
    showNotices(monitor)
  },
  epochs: () => {
    epochs.show()
    chart.show()
  },
  pool: () => {
    pool.show()
    showHead(monitor)
  },
  watch: () => watch.show(),
  messages: () => tracks.show(),
  peers: () => peers.show(),
  light: () => {
    showLight(monitor)
    showNotices(monitor)
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

function startDialog(): void {
  const dialog = byId<HTMLDialogElement>('connect')
  const form = byId<HTMLFormElement>('connect-form')
  const field = (name: string): HTMLInputElement => form.elements.namedItem(name) as HTMLInputElement
  const showKind = (): void => {
    const kind = new FormData(form).get('kind')
    for (const row of form.querySelectorAll<HTMLElement>('[data-for]')) row.hidden = row.dataset.for !== kind
  }
  form.addEventListener('change', showKind)
  byId('link').addEventListener('click', () => {
    const kind = form.querySelector<HTMLInputElement>(`input[value="${target.kind}"]`)
    if (kind !== null) kind.checked = true
    if (target.kind === 'server') field('url').value = target.url
    if (target.kind === 'follow') field('peer').value = target.peer
    if (target.kind === 'light') {
      field('network').value = target.network
      field('from').value = [...target.sources, ...target.peers].join(' ')
    }
    showKind()
    dialog.showModal()
  })
  byId('connect-cancel').addEventListener('click', () => dialog.close())
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const next = chosenTarget(String(new FormData(form).get('kind')), (name) => field(name).value)
    if (typeof next === 'string') {
      byId('connect-error').textContent = next
      return
    }
    location.hash = hashOf(next)
    location.reload()
  })
}

function chosenTarget(kind: string, given: (name: string) => string): Target | string {
  if (kind === 'local') return { kind }
  if (kind === 'follow') {
    const peer = given('peer').trim()
    return peer === '' ? 'Which node shall the tab ask for its peers?' : { kind, peer }
  }
  if (kind === 'light') {
    const from = lightSources(given('from'))
    return from === undefined
      ? 'Sources are addresses of RPC endpoints (https://…) and of peers (/dns4/…).'
      : { kind, network: given('network').trim() || 'mainnet', ...from }
  }
  const server = serverUrl(given('url'))
  return server === undefined ? 'This is no address of a server.' : { kind: 'server', url: server }
}

byId('sources').append(
  ...(['proven', 'peer', 'server'] as const).flatMap((source) => [
    h('dt', { 'aria-label': SOURCE_NAMES[source] }, sourceTag(source)),
    h('dd', {}, SOURCE_MEANINGS[source]),
  ]),
)
startTheme()
startDialog()
monitor.start()
for (const part of Object.keys(SHOW) as Part[]) changed(part)
setInterval(() => {
  showClock(monitor, Date.now())
  showNotices(monitor)
}, CLOCK_MS)
addEventListener('online', () => monitor.retry())
