/**
 * Writes the documentation as static pages.
 *
 *     npx node scripts/docs.ts [folder]      default build/docs; recorded answers from ../shared/data/golden, where they are
 */
import { join } from 'node:path'
import { buildSite } from './docs/site.ts'

const ROOT = join(import.meta.dirname, '..')
const out = process.argv[2] ?? join(ROOT, 'build/docs')
const { pages, methods, examples } = await buildSite(ROOT, join(ROOT, '../shared/data/golden'), out)
console.log(`${pages} pages in ${out}; ${methods} methods, ${examples} with a recorded answer`)
