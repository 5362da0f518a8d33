/** A disk that is soon full: a file system in memory, which only root can mount. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder that is a disk of its own, where that could be mounted; else it is not there. */
export interface SmallDisk {
  readonly path: string
  readonly isMounted: boolean
  end(): void
}

/** @param name - begins the folder's name @param bytes - of the disk */
export function mountSmallDisk(name: string, bytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), name))
  let isMounted = true
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    isMounted = false
    rmSync(path, { recursive: true })
    console.log('skipped: a small file system cannot be mounted here')
  }
  return {
    path,
    isMounted,
    end: () => {
      if (!isMounted) return
      // LMDB gives its file back a little later than it says.
      execFileSync('umount', ['--lazy', path])
      rmSync(path, { recursive: true })
    },
  }
}

/** Takes all room of a disk but a little, also what others give back meanwhile. @param ballast - a file on it */
export function fillDisk(ballast: string, leaveBytes: number): void {
  for (;;) {
    const { bavail, bsize } = statfsSync(dirname(ballast))
    const excess = bavail * bsize - leaveBytes
    if (excess <= 0) return
    try {
      appendFileSync(ballast, new Uint8Array(Math.min(excess, 1024 * 1024)))
    } catch (error) {
      // Somebody has taken some of it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      return
    }
  }
}
