/** Where WebAssembly has no vectors, as on a processor without SSE 4.1, noble verifies everything: same vectors, same answers. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { missingShared, ROOT, sharedPath } from '../support/shared.ts'
import { PROOF_VECTORS } from './proofKeys.ts'

const missing = missingShared(PROOF_VECTORS)

describe.skipIf(missing !== undefined || process.arch !== 'x64')('without vectors in WebAssembly', () => {
  it('proofs are verified by noble', { timeout: 300_000 }, async () => {
    const program = join(ROOT, 'test/conformance/proofs/main.ts')
    const files = ['winning-2k'].map((name) => sharedPath(`${PROOF_VECTORS}/${name}.json`))
    // The engine's own switch: without these instructions it compiles no vectors.
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-enable-sse4-1', program, ...files])
    expect(stdout).toContain('noble, ')
    expect(stdout).toContain('83 passed, 0 failed, 0 skipped')
  })
})
