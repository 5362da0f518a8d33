/** WebRTC-direct between two hosts: bytes, and a certificate that is the same after every start. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPT = new URL('./webRtcHosts.ts', import.meta.url).pathname

it('carries bytes both ways; its address is the same after a restart but for the port', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { timeout: 120_000 })
  const { equal, before, after, over, received } = JSON.parse(stdout) as {
    equal: boolean
    before: { id: string; addresses: string[] }
    after: { id: string; addresses: string[] }
    over: string
    received: number
  }
  const hashOf = (address: string | undefined): string | undefined => /certhash\/([\w-]+)$/.exec(address ?? '')?.[1]
  expect(equal).toBe(true)
  expect(received).toBe(1_000_003)
  expect(after.id).toBe(before.id)
  expect(hashOf(before.addresses[0])).toMatch(/^uEi/)
  expect(hashOf(after.addresses[0])).toBe(hashOf(before.addresses[0]))
  expect(over).toContain('/webrtc-direct/')
})
