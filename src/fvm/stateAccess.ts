import { type Address, PROTOCOL_ID } from '../types/address.ts'
import type { ActorId } from '../types/scalars.ts'
import { PRELOADED_ACTORS } from './gas/prices.ts'

const NONE = 0
const READ = 1
const UPDATED = 2

const preloaded: ReadonlySet<ActorId> = new Set(PRELOADED_ACTORS)
const LAST_PRELOADED = PRELOADED_ACTORS.at(-1) as ActorId

function isPreloaded(id: ActorId): boolean {
  return id <= LAST_PRELOADED && preloaded.has(id)
}

type Undo = { readonly actor: ActorId; readonly level: number } | { readonly address: string }

/**
 * Which actors a message has looked up and updated and which addresses it has resolved, so that each is charged once. What
 * a failed call did is forgotten and charged again.
 * @see ref-fvm fvm/src/call_manager/state_access_tracker.rs
 */
export class StateAccess {
  readonly #actors = new Map<ActorId, number>()
  readonly #addresses = new Set<string>()
  readonly #log: Undo[] = []
  readonly #marks: number[] = []

  begin(): void {
    this.#marks.push(this.#log.length)
  }

  end(revert: boolean): void {
    const mark = this.#marks.pop() as number
    if (!revert) return
    while (this.#log.length > mark) {
      const undo = this.#log.pop() as Undo
      if ('address' in undo) this.#addresses.delete(undo.address)
      else if (undo.level === NONE) this.#actors.delete(undo.actor)
      else this.#actors.set(undo.actor, undo.level)
    }
  }

  isRead(id: ActorId): boolean {
    return isPreloaded(id) || this.#actors.has(id)
  }

  isUpdated(id: ActorId): boolean {
    return isPreloaded(id) || this.#actors.get(id) === UPDATED
  }

  recordRead(id: ActorId): void {
    if (!this.isRead(id)) this.#set(id, NONE, READ)
  }

  recordUpdate(id: ActorId): void {
    if (!this.isUpdated(id)) this.#set(id, this.#actors.get(id) ?? NONE, UPDATED)
  }

  #set(actor: ActorId, before: number, level: number): void {
    this.#log.push({ actor, level: before })
    this.#actors.set(actor, level)
  }

  isResolved(address: Address): boolean {
    return address.protocol === PROTOCOL_ID || this.#addresses.has(address.key)
  }

  recordResolved(address: Address): void {
    if (this.isResolved(address)) return
    this.#log.push({ address: address.key })
    this.#addresses.add(address.key)
  }
}
