/** The queries of docs/sql.md, as tests ask them. */
import type { Sql } from 'postgres'
import { readOwn } from '../support/shared.ts'

/** Values of psql's variables, by name. */
export type Variables = Readonly<Record<string, string | number>>

/** Queries by the bold words before them. */
export function questions(): Map<string, string> {
  const text = new TextDecoder().decode(readOwn('docs/sql.md'))
  const found = [...text.matchAll(/^\*\*([^*]+?)[,:.]?\*\*[\s\S]*?```sql\n([\s\S]*?)```/gm)]
  return new Map(found.map(([, name, sql]) => [(name as string).replace(/\s+/g, ' '), sql as string]))
}

/** A query with psql's variables filled in. */
export function filledQuestion(name: string, variables: Variables): string {
  const query = questions().get(name)
  if (query === undefined) throw new Error(`docs/sql.md does not ask "${name}"`)
  return query
    .replace(/:'(\w+)'/g, (_, key: string) => `'${variables[key]}'`)
    .replace(/([^:]):([a-z]\w*)/g, (all, before: string, key: string) =>
      key in variables ? `${before}${variables[key]}` : all,
    )
}

/** Runs a query of docs/sql.md. @param edit - changes its filled text before */
export async function askQuestion(
  sql: Sql,
  name: string,
  variables: Variables,
  edit: (query: string) => string = (query) => query,
): Promise<Record<string, unknown>[]> {
  return [...(await sql.unsafe(edit(filledQuestion(name, variables))))]
}
