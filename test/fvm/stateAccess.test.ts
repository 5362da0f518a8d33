/** @see ref-fvm fvm/src/call_manager/state_access_tracker.rs tests */
import { describe, expect, it } from 'vitest'
import { StateAccess } from '../../src/fvm/stateAccess.ts'
import { idAddress, secp256k1Address } from '../../src/types/address.ts'

describe('state access', () => {
  it('keeps what was charged, and forgets it when a call fails', () => {
    const access = new StateAccess()
    access.begin()
    expect(access.isRead(101n)).toBe(false)
    access.recordRead(101n)
    expect([access.isRead(101n), access.isUpdated(101n)]).toEqual([true, false])
    access.recordUpdate(101n)
    access.recordRead(101n)
    expect(access.isUpdated(101n)).toBe(true)
    access.end(false)
    expect(access.isUpdated(101n)).toBe(true)

    access.begin()
    access.recordRead(102n)
    expect(access.isRead(102n)).toBe(true)
    access.end(true)
    expect([access.isUpdated(101n), access.isRead(102n)]).toEqual([true, false])
  })

  it('takes an update back to a read', () => {
    const access = new StateAccess()
    access.recordRead(101n)
    access.begin()
    access.recordUpdate(101n)
    access.end(true)
    expect([access.isRead(101n), access.isUpdated(101n)]).toEqual([true, false])
  })

  it('knows the preloaded actors', () => {
    const access = new StateAccess()
    expect([0n, 7n, 10n, 99n].every((id) => access.isUpdated(id))).toBe(true)
    expect(access.isRead(8n)).toBe(false)
  })

  it('remembers resolved addresses; f0 needs none', () => {
    const access = new StateAccess()
    expect(access.isResolved(idAddress(1n))).toBe(true)
    const address = secp256k1Address(new Uint8Array(65))
    access.begin()
    access.recordResolved(address)
    expect(access.isResolved(address)).toBe(true)
    access.end(true)
    expect(access.isResolved(address)).toBe(false)
    access.begin()
    access.recordResolved(address)
    access.end(false)
    expect(access.isResolved(address)).toBe(true)
  })
})
