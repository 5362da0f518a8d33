import type { HttpResponse } from '../../src/rpc/httpMessage.ts'

/** The text of an answer, also of one that is sent in parts. */
export async function wholeBody({ body, rest }: HttpResponse): Promise<string> {
  const parts = [body]
  for await (const part of rest ?? []) parts.push(part)
  return parts.join('')
}
