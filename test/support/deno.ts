/** The Deno of this repository's development dependencies. */
import { createRequire } from 'node:module'

/** Path of the program itself: its npm launcher would stand between us and its signals. */
export function denoPath(): string {
  const { runInstall } = createRequire(import.meta.url)('deno/install_api.cjs') as { runInstall(): string }
  return runInstall()
}
