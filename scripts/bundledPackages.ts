/** The packages that are inside what esbuild made, and their licences. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { ROOT } from './buildBrowser.ts'

/** A package inside. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  readonly license: string
  /** Its folder, from the root. */
  readonly folder: string
}

/** In order of name. */
export function bundledPackages(metafiles: readonly Metafile[]): BundledPackage[] {
  const folders = new Set<string>()
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const path of Object.keys(inputs)) {
        // From the first node_modules on, which may be linked from elsewhere.
        const [, folder] =
          /^(?:.*?\/)??(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(
            path.replace(/^[a-z-]+:/, ''),
          ) ?? []
        if (folder !== undefined) folders.add(folder)
      }
    }
  }
  return [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
      name: string
      version: string
      license?: string | { type: string }
    }
    return { name, version, license: typeof license === 'object' ? license.type : (license ?? 'none'), folder }
  })
}

/** What their licences ask to be handed on: their texts. */
export function licenceTexts(packages: readonly BundledPackage[]): string {
  return packages
    .map(({ name, version, license, folder }) => {
      const file = readdirSync(join(ROOT, folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry))
      const text = file === undefined ? '' : `\n${readFileSync(join(ROOT, folder, file), 'utf8').trim()}\n`
      return `${name}@${version} (${license})\n${text}`
    })
    .join(`\n${'-'.repeat(80)}\n`)
}
