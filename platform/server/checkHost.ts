/** What a node needs of its machine: files that are its own, room, descriptors, a clock that is right. For `petrel doctor`. */
import { createSocket } from 'node:dgram'
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { errorMessage, unlessThrown } from '../../src/base/errors.ts'
import type { Home } from './home.ts'

/** What one look found. */
export interface Check {
  /** What was looked at. */
  readonly name: string
  /** A `warning` is no fault yet; `unknown`: it cannot be told here. */
  readonly state: 'ok' | 'warning' | 'fault' | 'unknown'
  readonly found: string
  /** What to do about it; empty when nothing is to be done. */
  readonly remedy: string
}

/** Below so much room a node on the disk stops soon; below the other, within days of mainnet. Bytes. */
const LITTLE_ROOM = 1024 ** 3
const SCARCE_ROOM = 20 * 1024 ** 3
/** Bits of everybody but the owner; those that let them write. */
const OTHERS = 0o077
const OTHERS_WRITE = 0o022
/** A node has up to 200 connections, and files besides. */
const FEW_DESCRIPTORS = 2048
/** A block from so far ahead is refused by others, seconds; a clock half as wrong is worth a word. @see lotus build AllowableClockDriftSecs */
const CLOCK_FAULT_SEC = 1
const NTP_PORT = 123
const NTP_TIMEOUT_MS = 4000
/** Seconds from the beginning of NTP's count (1900) to the one of Unix. @see RFC 5905 section 6 */
const NTP_EPOCH_SEC = 2_208_988_800

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

/** Who may read and write. */
export function checkPermissions(home: Home): Check[] {
  const name = 'permissions'
  if (process.platform === 'win32') return [{ name, state: 'unknown', found: 'Windows keeps no modes', remedy: '' }]
  const modeOf = (path: string): number => (existsSync(path) ? statSync(path).mode & 0o777 : 0)
  const faults: Check[] = []
  if ((modeOf(home.path) & OTHERS_WRITE) !== 0) {
    faults.push({ name, state: 'fault', found: `others may write to ${home.path}`, remedy: `chmod 700 ${home.path}` })
  }
  for (const path of [home.keystore, home.token]) {
    if ((modeOf(path) & OTHERS) === 0) continue
    faults.push({ name, state: 'fault', found: `others may use ${path}`, remedy: `chmod go= ${path}` })
  }
  const found = "keys and token are the owner's alone"
  return faults.length > 0 ? faults : [{ name, state: 'ok', found, remedy: '' }]
}

/** Room where the home is. */
export function checkDisk(home: Home): Check {
  const { bavail, bsize } = statfsSync(home.path)
  const free = bavail * bsize
  const found = `${gibibytes(free)} are free at ${home.path}`
  const remedy =
    'make room, or move the home to a larger disk (docs/moving.md); --keep-state bounds what the state takes'
  if (free < LITTLE_ROOM) return { name: 'disk', state: 'fault', found: `nearly full: ${found}`, remedy }
  if (free < SCARCE_ROOM) return { name: 'disk', state: 'warning', found, remedy }
  return { name: 'disk', state: 'ok', found, remedy: '' }
}

/** Descriptors that the node may have open, and has. @param pid - of the node; undefined: this shell's limit is told */
export function checkDescriptors(pid: number | undefined): Check {
  const name = 'file descriptors'
  const of = pid ?? 'self'
  const limits = unlessThrown(() => readFileSync(`/proc/${of}/limits`, 'utf8'), Error)
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits ?? '')?.[1]
  if (soft === undefined) return { name, state: 'unknown', found: 'this system does not tell them', remedy: '' }
  const most = soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
  const open = pid === undefined ? undefined : unlessThrown(() => readdirSync(`/proc/${pid}/fd`).length, Error)
  const found = `${soft} at most${open === undefined ? '' : `, ${open} are open`}`
  const remedy = 'ulimit -n 8192 before the start, or LimitNOFILE=8192 in the unit'
  if (open !== undefined && open > most * 0.9) return { name, state: 'fault', found, remedy }
  if (most < FEW_DESCRIPTORS) return { name, state: 'warning', found, remedy }
  return { name, state: 'ok', found, remedy: '' }
}

/**
 * Asks a time server (SNTP).
 * @param server - `host` or `host:port`
 * @returns ms that this clock is ahead of it
 */
function clockOffset(server: string, now: () => number): Promise<number> {
  const [host = '', port = String(NTP_PORT)] = server.split(':')
  const request = new Uint8Array(48)
  // Version 4, client.
  request[0] = 0x23
  const socket = createSocket('udp4')
  return new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${server} did not answer`)), NTP_TIMEOUT_MS)
    const done = (): void => clearTimeout(timer)
    socket.once('error', (error) => {
      done()
      reject(error)
    })
    const sent = now()
    socket.once('message', (answer) => {
      const came = now()
      done()
      if (answer.length < 48) return reject(new Error(`${server} answered something else`))
      // A "kiss of death" has a reason in place of a time. @see RFC 5905 section 7.4
      if (answer[1] === 0 || answer.readUInt32BE(32) === 0 || answer.readUInt32BE(40) === 0)
        return reject(new Error(`${server} tells no time`))
      const at = (offset: number): number =>
        (answer.readUInt32BE(offset) - NTP_EPOCH_SEC) * 1000 + (answer.readUInt32BE(offset + 4) * 1000) / 2 ** 32
      resolve((sent + came) / 2 - (at(32) + at(40)) / 2)
    })
    socket.send(request, Number(port), host)
  }).finally(() => socket.close())
}

/** The clock by a time server. */
export async function checkClock(server: string, now: () => number): Promise<Check> {
  const name = 'clock'
  let offsetSec: number
  try {
    offsetSec = (await clockOffset(server, now)) / 1000
  } catch (error) {
    return {
      name,
      state: 'unknown',
      found: errorMessage(error),
      remedy: 'name a time server that can be reached: --ntp <host>',
    }
  }
  const found = `${Math.abs(offsetSec).toFixed(2)} s ${offsetSec < 0 ? 'behind' : 'ahead of'} ${server}`
  const isWrong = Math.abs(offsetSec) >= CLOCK_FAULT_SEC
  return {
    name,
    state: isWrong ? 'fault' : 'ok',
    found,
    remedy: isWrong ? 'let chrony or systemd-timesyncd set the clock: timedatectl set-ntp true' : '',
  }
}
