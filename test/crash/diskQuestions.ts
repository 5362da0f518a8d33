/** What tests of a failing disk ask of a node. */
import type { NodeClient } from '../runtimes/nodeHost.ts'
import type { NodeProcess } from '../runtimes/nodeProcess.ts'

/** Status and text of `/health/readyz`. */
export async function readiness(node: Pick<NodeProcess, 'url'>): Promise<[number, string]> {
  const answer = await fetch(`${node.url}/health/readyz`)
  return [answer.status, await answer.text()]
}

export async function heightOf(client: NodeClient): Promise<number> {
  return (await client.call('ChainHead')).Height
}
