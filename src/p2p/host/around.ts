/** Gossipsub is mended from outside: what of it has to be otherwise is put around the methods that do it, which its types keep private. */
import { P2pError } from '../errors.ts'

/**
 * Puts something around a method of one object; its class stays as it is.
 * @param wrap - gets the method, makes what takes its place
 * @throws P2pError `NOT_SUPPORTED` where the library has no such method: a version that calls it otherwise must not go on unmended, unseen
 */
export function around<Owner extends object, Name extends keyof Owner & string>(
  owner: Owner,
  name: Name,
  wrap: (method: Owner[Name]) => Owner[Name],
): void {
  const method = owner[name]
  if (typeof method !== 'function') throw new P2pError('NOT_SUPPORTED', `this gossipsub has no method ${name}`)
  owner[name] = wrap(method.bind(owner) as Owner[Name])
}
