/** Processes of a Chromium that this process started. */
import { readdirSync, readFileSync } from 'node:fs'

/** What `/proc` says of a process; undefined: it has ended meanwhile. */
function read(pid: string, what: 'stat' | 'cmdline'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}

/**
 * @param kind - `renderer`: those that run pages; `browser`: the one that all others belong to
 * @param profile - of this folder alone: other tests of this process may have a browser, too
 * @returns their process IDs
 */
export function chromiumProcesses(kind: 'renderer' | 'browser', profile = ''): string[] {
  const parents = new Map<string, string>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    parents.set(pid, /\) \S (\d+)/.exec(read(pid, 'stat') ?? '')?.[1] ?? '')
  }
  const isOurs = (pid: string | undefined): boolean =>
    pid === String(process.pid) || (pid !== undefined && parents.has(pid) && isOurs(parents.get(pid)))
  const isKind = (line: string): boolean =>
    kind === 'renderer'
      ? line.includes('--type=renderer')
      : line.includes(`--user-data-dir=${profile}`) && !line.includes('--type=')
  return [...parents.keys()].filter((pid) => isOurs(pid) && isKind(read(pid, 'cmdline') ?? ''))
}
