/** How the page says where a value comes from. */
import type { Source } from '../model/evidence.ts'
import { h, icon } from './dom.ts'

/** Shortest names. */
export const SOURCE_NAMES: Readonly<Record<Source, string>> = {
  proven: 'proven here',
  peer: 'a peer’s word',
  server: 'the server’s word',
}

/** What each means. */
export const SOURCE_MEANINGS: Readonly<Record<Source, string>> = {
  proven:
    'The node in this tab validated the header that the value hangs on; the value follows from it by hashes, or was executed here.',
  peer: 'A peer of the node in this tab says so. Nothing here has checked it.',
  server:
    'The server that this page asks says so. The page recomputes the hashes of all headers, so a server that contradicts itself is caught; one that lies consistently is not.',
}

/** A mark with its words. */
export function sourceTag(source: Source): HTMLElement {
  return h(
    'span',
    {
      class: `source ${source === 'proven' ? 'is-proven' : 'is-word'}`,
      'data-source': source,
      title: SOURCE_MEANINGS[source],
    },
    icon(source === 'proven' ? 'proven' : 'word'),
    SOURCE_NAMES[source],
  )
}

/** The mark alone, with its words for screen readers: for the rows of a table. */
export function sourceMark(source: Source): HTMLElement {
  return h(
    'span',
    {
      class: `source ${source === 'proven' ? 'is-proven' : 'is-word'}`,
      'data-source': source,
      title: SOURCE_NAMES[source],
    },
    icon(source === 'proven' ? 'proven' : 'word'),
    h('span', { class: 'sr' }, SOURCE_NAMES[source]),
  )
}
