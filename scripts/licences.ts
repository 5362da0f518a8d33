/**
 * Lists what is in the package and what is installed with it, by licence, as the lock file has them (after `scripts/build.ts`); fails for a licence that is not on the list
 * of those that may be shipped, and for a package that runs a script when it is installed.
 *
 *     npm run licences
 */
import { readFileSync } from 'node:fs'
import { shippedPackages } from './shippedPackages.ts'

/** Each may be part of a program under MIT; files under MPL stay under it, and are shipped as they are. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'Apache-2.0 OR MIT',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  '(MIT OR Apache-2.0)',
  'MPL 2.0',
  'Unlicense',
  'WTFPL',
  'WTFPL OR ISC',
  '(WTFPL OR MIT)',
])

/** These have an install script that is not needed: what it would build comes as a package of its own. */
const NEEDLESS_SCRIPTS = ['lmdb', 'msgpackr-extract']

/** What `scripts/build.ts` put into the package. */
const built = JSON.parse(readFileSync(new URL('../dist/packages.json', import.meta.url), 'utf8')) as readonly string[]
const byLicence = new Map<string, string[]>()
const wrong: string[] = []
for (const { name: own, version, license, hasInstallScript } of shippedPackages(built)) {
  const name = `${own}@${version}`
  const names = byLicence.get(license)
  if (names === undefined) byLicence.set(license, [name])
  else names.push(name)
  if (!ALLOWED.has(license)) wrong.push(`${name}: the licence ${license} is not on the list`)
  if (hasInstallScript && !NEEDLESS_SCRIPTS.includes(own)) wrong.push(`${name} runs a script when it is installed`)
}
for (const [licence, names] of [...byLicence].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${licence} (${names.length}): ${names.sort().join(', ')}`)
}
for (const complaint of wrong) console.error(complaint)
if (wrong.length > 0) process.exit(1)
