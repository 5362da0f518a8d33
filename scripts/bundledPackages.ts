/** The packages that are inside what esbuild made, and their licences. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { ROOT } from './buildBrowser.ts'

/** No licence's text is shorter, characters. */
const MIN_TEXT = 500

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

/** Where SPDX's list has the texts of licences, by identifier. */
const SPDX = join(ROOT, 'node_modules/spdx-license-list/licenses')

/** The texts of a package that brings none: those that its `license` names. */
function namedTexts({ license, folder }: BundledPackage): string {
  const { author, contributors } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    author?: string | { name: string }
    contributors?: readonly (string | { name: string })[]
  }
  const names = [author, ...(contributors ?? [])].flatMap((who) => (typeof who === 'object' ? [who.name] : (who ?? [])))
  const holders = `Copyright (c) ${names.length === 0 ? 'its authors' : names.join(', ')}`
  const texts = license.split(/[() ]+/).filter((word) => existsSync(join(SPDX, `${word}.json`)))
  return [
    `The package brings no text of its licence; this is SPDX's of ${license}. ${holders}`,
    ...texts.map((id) => {
      const { licenseText } = JSON.parse(readFileSync(join(SPDX, `${id}.json`), 'utf8')) as { licenseText: string }
      return licenseText.trim()
    }),
  ].join('\n\n')
}

/** What their licences ask to be handed on: their texts. @throws RangeError for a licence whose text is nowhere */
export function licenceTexts(packages: readonly BundledPackage[]): string {
  return packages
    .map((inside) => {
      const { name, version, license, folder } = inside
      const files = readdirSync(join(ROOT, folder)).filter((entry) => /^(licen[cs]e|copying)/i.test(entry))
      const own = files.map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim()).join('\n\n')
      // Some say no more than where the text is.
      const text = own.length < MIN_TEXT ? `${own}\n\n${namedTexts(inside)}`.trim() : own
      if (text.length < MIN_TEXT) throw new RangeError(`no text of the licence ${license} of ${name}`)
      return `${name}@${version} (${license})\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n`)
}
