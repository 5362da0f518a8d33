/** A node that is a process of its own, asked as clients do. */
import type { NodeProcess } from '../runtimes/nodeProcess.ts'

/** A transfer as it is listed. */
export interface TransferJson {
  readonly TipSet: readonly { readonly '/': string }[]
  readonly Height: number
  readonly Value: string
}

/** What is read of answers, whichever method's. */
export interface Result {
  readonly Height: number
  readonly Cids: readonly { readonly '/': string }[]
  readonly Transfers: readonly TransferJson[]
  readonly Position: string
  readonly CID: unknown
  readonly Receipt: { readonly ExitCode: number }
  readonly hash: string
  readonly parentHash: string
  readonly number: string
}

/** What a node has answered. */
export interface Answer {
  readonly status: number
  readonly epoch: number
  readonly result: Result
  readonly error: { readonly message: string } | undefined
}

/** Asks a node that is a process. @param minEpoch - which head its answer must be of at least @param token - default: none */
export async function ask(
  node: NodeProcess,
  method: string,
  params: unknown[],
  minEpoch?: number,
  token?: string,
): Promise<Answer> {
  const response = await fetch(`${node.url}/rpc/v1`, {
    method: 'POST',
    // A question that stands names itself, before the whole test is given up.
    signal: AbortSignal.timeout(60_000),
    headers: {
      ...(minEpoch === undefined ? {} : { 'X-Petrel-Min-Epoch': String(minEpoch) }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }).catch((cause: unknown) => {
    throw new Error(`${method} was not answered by ${node.url}: ${String(cause)}\n${node.output().slice(-4000)}`)
  })
  const { result, error } = (await response.json()) as Pick<Answer, 'result' | 'error'>
  return { status: response.status, epoch: Number(response.headers.get('x-petrel-epoch')), result, error }
}
