/** What the page remembers between visits. Nothing in it is secret. */

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
}

export interface Settings {
  readonly watched: readonly WatchedAddress[]
  /** CIDs of tracked messages, newest first. */
  readonly tracked: readonly string[]
  /** Epochs after which the reader calls a message confirmed. */
  readonly confirmations: number
}

const KEY = 'petrel.monitor'
const DEFAULTS: Settings = { watched: [], tracked: [], confirmations: 5 }
const MOST = 100

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, MOST) : []
}

function watched(value: unknown): WatchedAddress[] {
  if (!Array.isArray(value)) return []
  return value
    .filter((one): one is WatchedAddress => {
      const { address, label } = (one ?? {}) as Partial<WatchedAddress>
      return typeof address === 'string' && typeof label === 'string'
    })
    .slice(0, MOST)
}

/** What is stored; defaults where nothing is, or something else. */
export function loadSettings(storage: TextStorage): Settings {
  try {
    const stored = JSON.parse(storage.getItem(KEY) ?? '{}') as Partial<Record<keyof Settings, unknown>>
    const { confirmations } = stored
    return {
      watched: watched(stored.watched),
      tracked: texts(stored.tracked),
      confirmations:
        typeof confirmations === 'number' && confirmations >= 1 ? Math.floor(confirmations) : DEFAULTS.confirmations,
    }
  } catch {
    return DEFAULTS
  }
}

/** @returns false where storage is full or forbidden */
export function saveSettings(storage: TextStorage, settings: Settings): boolean {
  try {
    storage.setItem(KEY, JSON.stringify(settings))
    return true
  } catch {
    return false
  }
}
