/** What lies in the files of a home after a kill: what a write left that was cut off, and private keys in the plain. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fromBase64 } from '../../src/base/bytes.ts'
import { isSealed } from '../../src/wallet/sealing.ts'

const UNFINISHED = '.tmp-'

function filesOf(home: string): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))
}

/** Files that a write left which was cut off. */
export function unfinishedIn(home: string): string[] {
  return filesOf(home).filter((name) => name.includes(UNFINISHED))
}

/** How the entries of a keystore are kept: the names of those that are sealed, and of those that are not. */
export function entriesOf(home: string): { readonly sealed: readonly string[]; readonly plain: readonly string[] } {
  const names = filesOf(home).filter((name) => name.startsWith('keystore/'))
  const { sealed = [], plain = [] } = Object.groupBy(names, (name) =>
    isSealed(readFileSync(join(home, name))) ? 'sealed' : 'plain',
  )
  return { sealed, plain }
}

/** @param secrets - private keys in base64 @returns the files that hold one in the plain, in text or as bytes */
export function plainSecretsIn(home: string, secrets: readonly string[]): string[] {
  const forms = secrets.flatMap((secret) => [Buffer.from(secret), Buffer.from(fromBase64(secret))])
  return filesOf(home).filter((name) => {
    const content = readFileSync(join(home, name))
    return forms.some((form) => content.includes(form))
  })
}
