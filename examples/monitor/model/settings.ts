/** What the page remembers between visits. Nothing in it is secret. */
import type { TokenAmount } from 'petrel'

/** The part of `localStorage` that is needed. */
export interface TextStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

/** A watched address. */
export interface WatchedAddress {
  /** With the letter f. */
  readonly address: string
  readonly label: string
  /** A balance below this needs attention, attoFIL; undefined: none does. */
  readonly floor?: TokenAmount | undefined
}

export interface Settings {
  readonly watched: readonly WatchedAddress[]
  /** CIDs of tracked messages, newest first. */
  readonly tracked: readonly string[]
  /** Epochs after which the reader calls a message confirmed. */
  readonly confirmations: number
  /** A base fee above this needs attention, attoFIL per unit of gas; undefined: none does. */
  readonly feeLimit?: TokenAmount | undefined
  /** Whether the system tells of what needs attention, where it is allowed to. */
  readonly notifies?: boolean
}

const KEY = 'petrel.monitor'
const DEFAULTS: Settings = { watched: [], tracked: [], confirmations: 5 }
const MOST = 100

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string').slice(0, MOST) : []
}

function amount(value: unknown): TokenAmount | undefined {
  return typeof value === 'string' && /^\d{1,30}$/.test(value) ? BigInt(value) : undefined
}

function watched(value: unknown): WatchedAddress[] {
  if (!Array.isArray(value)) return []
  return value
    .filter((entry): entry is { address: string; label: string; floor?: unknown } => {
      const { address, label } = (entry ?? {}) as Partial<WatchedAddress>
      return typeof address === 'string' && typeof label === 'string'
    })
    .slice(0, MOST)
    .map(({ address, label, floor }) => {
      const least = amount(floor)
      return { address, label, ...(least === undefined ? {} : { floor: least }) }
    })
}

/** What is stored; defaults where nothing is, or something else. */
export function loadSettings(storage: TextStorage): Settings {
  try {
    const stored = JSON.parse(storage.getItem(KEY) ?? '{}') as Partial<Record<keyof Settings, unknown>>
    const { confirmations } = stored
    const feeLimit = amount(stored.feeLimit)
    return {
      watched: watched(stored.watched),
      tracked: texts(stored.tracked),
      confirmations:
        typeof confirmations === 'number' && confirmations >= 1 ? Math.floor(confirmations) : DEFAULTS.confirmations,
      ...(feeLimit === undefined ? {} : { feeLimit }),
      ...(stored.notifies === true ? { notifies: true } : {}),
    }
  } catch {
    return DEFAULTS
  }
}

/** @returns false where storage is full or forbidden */
export function saveSettings(storage: TextStorage, settings: Settings): boolean {
  try {
    const text = JSON.stringify(settings, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
    storage.setItem(KEY, text)
    return true
  } catch {
    return false
  }
}
