/** The packages inside ours and those that are installed with it, as the lock file has them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './buildBrowser.ts'

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}

/** One of them. */
export interface ShippedPackage {
  readonly name: string
  readonly version: string
  readonly license: string
  /** `sha512-…` in base64; undefined: the lock does not name it. */
  readonly integrity: string | undefined
  /** Installed where its system is the right one. */
  readonly isOptional: boolean
  readonly hasInstallScript: boolean
}

/** Binaries of a package that does name its licence. */
const OF_THEIR_PACKAGE: readonly (readonly [prefix: string, licence: string])[] = [['@msgpackr-extract/', 'MIT']]

/** @param inside - folders of those that were bundled, from the root */
export function shippedPackages(inside: readonly string[]): readonly ShippedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>
  }
  return Object.entries(packages)
    .filter(([path, { link, dev }]) => path !== '' && link !== true && (dev !== true || inside.includes(path)))
    .map(([path, { version = '', license, integrity, optional, hasInstallScript }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      const named = license ?? OF_THEIR_PACKAGE.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 'none'
      return {
        name,
        version,
        license: named,
        integrity,
        isOptional: optional === true,
        hasInstallScript: hasInstallScript === true,
      }
    })
}
