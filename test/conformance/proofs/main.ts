/**
 * Runs vectors of storage proofs: `npm run conformance:proofs -- <folder or file>… [--keys <folder>] [--backend noble]`,
 * by default those of ../shared, with the keys that are beside them there.
 * Ends with `N passed, N failed, N skipped`; exit code 1 when one failed or can't be read.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import process from 'node:process'
import { programArgs } from '../../../scripts/programArgs.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { loadCurve } from '../../../src/node/proofs.ts'
import { nobleCurve } from '../../../src/proofs/curve/curveNoble.ts'
import { LoadedKeys } from '../../../src/proofs/keys/loadedKeys.ts'
import { silentLog } from '../../support/recordedView.ts'
import { missingShared, sharedPath } from '../../support/shared.ts'
import { runProofFile } from './runProofFile.ts'
import type { ProofFile } from './vectorForm.ts'

const VECTORS = 'data/vectors/proofs'
/** Where keys are, below a folder of them. */
const KEY_FOLDERS = ['', 'vk', 'vk-synthetic', 'srs']
/** Not vectors but what keys were made of. */
const NO_VECTORS = ['trapdoors.json']

/** Every .json below a folder, sorted. */
function vectorFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => vectorFiles(join(path, name)))
    .filter((file) => file.endsWith('.json') && !NO_VECTORS.includes(basename(file)))
}

function keyReader(folder: string): (name: string) => Uint8Array | undefined {
  return (name) => {
    const file = KEY_FOLDERS.map((sub) => join(folder, sub, name)).find((one) => existsSync(one))
    return file === undefined ? undefined : new Uint8Array(readFileSync(file))
  }
}

async function main(): Promise<void> {
  const { values, positionals } = programArgs(import.meta.filename, {
    options: { keys: { type: 'string' }, backend: { type: 'string' } },
    allowPositionals: true,
  })
  const missing = missingShared(VECTORS)
  if (missing !== undefined && (positionals.length === 0 || values.keys === undefined)) {
    console.error(`name a folder of vectors, and one of keys by --keys: ${missing}`)
    process.exit(2)
  }
  await initCrypto()
  const curve = values.backend === 'noble' ? nobleCurve : loadCurve(silentLog)
  // Keys made for the vectors have not the ceremony's digests.
  const keys = new LoadedKeys({ curve, read: keyReader(values.keys ?? sharedPath(VECTORS)), check: () => undefined })
  const count = { passed: 0, failed: 0 }
  const start = performance.now()
  for (const file of (positionals.length > 0 ? positionals : [sharedPath(VECTORS)]).flatMap(vectorFiles)) {
    const before = { ...count, ms: performance.now() }
    try {
      const content = JSON.parse(readFileSync(file, 'utf8')) as ProofFile
      for (const { id, reason } of runProofFile(content, keys, basename(file))) {
        if (reason === undefined) {
          count.passed++
          continue
        }
        count.failed++
        console.log(`FAIL ${basename(file)} ${id}: ${reason}`)
      }
    } catch (error) {
      count.failed++
      console.log(`FAIL ${file}: ${String(error)}`)
    }
    const seconds = ((performance.now() - before.ms) / 1000).toFixed(1)
    console.log(`${basename(file)}: ${count.passed - before.passed} passed in ${seconds} s`)
    if (count.passed + count.failed === before.passed + before.failed) {
      count.failed++
      console.log(`FAIL ${file}: no vectors in it`)
    }
  }
  console.log(`${curve.name}, ${((performance.now() - start) / 1000).toFixed(1)} s`)
  console.log(`${count.passed} passed, ${count.failed} failed, 0 skipped`)
  if (count.failed > 0) process.exit(1)
}

await main()
