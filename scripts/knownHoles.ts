/** Known holes of dependencies, as `npm audit` finds them, and which of them may stay. */

/**
 * By the advisory's name (`GHSA-…`): why it cannot hurt here, or what is waited for. One that is found no more must go, so that nothing
 * else hides behind it.
 */
export const EXPLAINED: Readonly<Record<string, string>> = {}

/** An advisory, as a package that it is about has it. */
interface Advisory {
  readonly name: string
  readonly title: string
  readonly url: string
  readonly severity: string
  readonly range: string
}

/** Of each package its advisories, and names of packages by which it has some. @see npm audit-report lib/index.js toJSON, auditReportVersion 2 */
export type Vulnerabilities = Readonly<Record<string, { readonly via: readonly (Advisory | string)[] }>>

/** @returns a line for each hole that is explained, and one for each that is not and for each explanation of none */
export function knownHoles(
  vulnerabilities: Vulnerabilities,
  explained: Readonly<Record<string, string>>,
): { readonly explained: string[]; readonly complaints: string[] } {
  const found = new Map<string, Advisory>()
  for (const advisory of Object.values(vulnerabilities).flatMap(({ via }) => via))
    if (typeof advisory !== 'string') found.set(advisory.url.slice(advisory.url.lastIndexOf('/') + 1), advisory)
  const lines = [...found].map(([id, { name, range, severity, title }]) => {
    return [id, `${id} (${severity}): ${name} ${range}: ${title}`] as const
  })
  const gone = Object.keys(explained).filter((id) => !found.has(id))
  return {
    explained: lines.filter(([id]) => id in explained).map(([id, line]) => `${line}: ${explained[id]}`),
    complaints: [
      ...lines.filter(([id]) => !(id in explained)).map(([, line]) => line),
      ...gone.map((id) => `${id} is explained, and is there no more`),
    ],
  }
}
