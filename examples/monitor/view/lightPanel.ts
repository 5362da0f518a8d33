import type { LightInfo, LightSourceInfo } from 'petrel'
import { formatAge, formatBytes, formatCount } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { byId, h, replaceWhen, setText } from './dom.ts'
import { sourceTag } from './source.ts'

const PERCENT = 100

/** What a light node has proven, how, and from whom it came. */
export function showLight({ news }: Monitor): void {
  const { light } = news
  byId('light').hidden = light === undefined
  if (light === undefined) return
  setText(byId('light-bytes'), `${formatBytes(light.bytesReceived)} fetched`)
  replaceWhen(
    byId('light-final'),
    JSON.stringify([light.final, light.confirmedSecondsAgo, light.checkpointInstance]),
    () => finalLine(light),
  )
  replaceWhen(byId('light-sources'), JSON.stringify(light.sources), () =>
    light.sources.length === 0
      ? [h('li', { class: 'faint' }, 'No source yet: name an RPC endpoint, or wait for peers.')]
      : light.sources.map(sourceLine),
  )
}

function finalLine({ final, confirmedSecondsAgo, checkpointInstance, checkpointDate }: LightInfo): (Node | string)[] {
  const from = `checkpoint of instance ${formatCount(checkpointInstance)}${checkpointDate === '' ? '' : `, ${checkpointDate}`}`
  if (final === null) return [`Nothing is proven yet; it begins at the ${from}.`]
  const share = `${(final.signedShare * PERCENT).toFixed(1)} %`
  const confirmed =
    confirmedSecondsAgo === null
      ? 'no source has confirmed it since the start'
      : `confirmed ${formatAge(confirmedSecondsAgo)} ago`
  return [
    `Final epoch ${formatCount(final.epoch)}: certificate ${formatCount(final.instance)}, signed by ${share} of the power, `,
    `verified from the ${from} on; ${confirmed}. `,
    sourceTag('proven'),
  ]
}

function sourceLine({ name, kind, state, reason, bytesReceived }: LightSourceInfo): HTMLElement {
  return h(
    'li',
    { 'data-state': state },
    h('span', { class: 'mono id' }, name),
    h(
      'span',
      { class: state === 'dropped' ? 'note bad' : 'note faint' },
      `${kind}, ${state}${reason === '' ? '' : `: ${reason}`}`,
    ),
    h('span', { class: 'num tool' }, formatBytes(bytesReceived)),
  )
}
