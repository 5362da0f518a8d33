/**
 * The parts of the package as CycloneDX 1.5, without the time and the random number that npm's own (`npm sbom`) has: the same bytes from
 * every clone. @see https://cyclonedx.org/docs/1.5/json
 */
import type { ShippedPackage } from './shippedPackages.ts'

function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function licences(license: string): readonly object[] {
  if (/ (OR|AND) /.test(license)) return [{ expression: license.replace(/^\((.*)\)$/, '$1') }]
  // Names of SPDX have no blanks.
  return [{ license: license.includes(' ') ? { name: license } : { id: license } }]
}

/** @param integrity - `sha512-…` in base64 */
function hashes(integrity: string | undefined): readonly object[] {
  if (integrity?.startsWith('sha512-') !== true) return []
  return [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }]
}

/** @param version - of ours */
export function sbom(version: string, packages: readonly ShippedPackage[]): string {
  const own = {
    'bom-ref': `petrel@${version}`,
    type: 'application',
    name: 'petrel',
    version,
    purl: purl('petrel', version),
  }
  const byName = new Map(packages.map((shipped) => [`${shipped.name}@${shipped.version}`, shipped]))
  const components = [...byName.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([ref, { name, version: its, license, integrity, isOptional }]) => ({
      'bom-ref': ref,
      type: 'library',
      name,
      version: its,
      scope: isOptional ? 'optional' : 'required',
      purl: purl(name, its),
      hashes: hashes(integrity),
      licenses: licences(license),
    }))
  const metadata = { component: { ...own, licenses: licences('MIT') } }
  const all = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components }
  return `${JSON.stringify(all, null, 2)}\n`
}
