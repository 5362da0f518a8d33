/** The imports between our own files, read from the sources. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { ROOT } from '../support/shared.ts'

/** Imports of a file: own files by path from the root with forward slashes, packages by their specifier. */
export interface FileImports {
  readonly own: readonly string[]
  readonly packages: readonly string[]
}

const STATEMENT = /^(?:import|export)\b[^'";]*?\bfrom\s*'([^']+)'|^import\s*'([^']+)'/gm
const CALL = /\bimport\(\s*'([^']+)'/g

function specifiers(text: string): string[] {
  // Comments may show imports of their own.
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '')
  return [
    ...[...code.matchAll(STATEMENT)].map((match) => match[1] ?? match[2] ?? ''),
    ...[...code.matchAll(CALL)].map((match) => match[1] ?? ''),
  ]
}

/** All TypeScript files below `folder`, by path from the root. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.includes('node_modules'))
    .map((name) => `${folder}/${name.split(sep).join('/')}`)
    .sort()
}

/** Reads the imports of all files below the folders. */
export function readImports(folders: readonly string[]): Map<string, FileImports> {
  const all = new Map<string, FileImports>()
  for (const file of folders.flatMap(sourceFiles)) {
    const found = specifiers(readFileSync(join(ROOT, file), 'utf8'))
    const own = found
      .filter((name) => name.startsWith('.'))
      .map((name) =>
        relative(ROOT, join(ROOT, dirname(file), name))
          .split(sep)
          .join('/'),
      )
    all.set(file, { own, packages: found.filter((name) => !name.startsWith('.')) })
  }
  return all
}

/** The shortest way round for every file that is in a circle of imports, each circle once. */
export function findCycles(imports: ReadonlyMap<string, FileImports>): string[][] {
  const cycles: string[][] = []
  const state = new Map<string, 'open' | 'done'>()
  const path: string[] = []
  const visit = (file: string): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      cycles.push([...path.slice(path.indexOf(file)), file])
      return
    }
    state.set(file, 'open')
    path.push(file)
    for (const next of imports.get(file)?.own ?? []) visit(next)
    path.pop()
    state.set(file, 'done')
  }
  for (const file of imports.keys()) visit(file)
  return cycles
}
