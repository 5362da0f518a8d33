/** The token that a request brings, as it is written there: whether it is valid, and which one it is, is a verifier's to say. */
import type { HttpRequest } from './httpMessage.ts'

/** Where a request has its token. */
type TokenPlaces = Pick<HttpRequest, 'url' | 'header'>

const BEARER = 'Bearer '
const IN_QUERY = 'token='

function queryToken(url: string): string | undefined {
  const start = url.indexOf('?')
  if (start < 0) return undefined
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair.startsWith(IN_QUERY)) return pair.slice(IN_QUERY.length)
  }
  return undefined
}

/** The header goes before the query. @returns undefined: the request brings none; `''`: a header that holds none, which is not valid */
export function tokenOf(request: TokenPlaces): string | undefined {
  const header = request.header('authorization')
  if (header !== undefined && header !== '') return header.startsWith(BEARER) ? header.slice(BEARER.length) : ''
  const token = queryToken(request.url)
  return token === '' ? undefined : token
}

/** Whether a request brings a token, valid or not. */
export function bringsToken(request: TokenPlaces): boolean {
  return tokenOf(request) !== undefined
}
