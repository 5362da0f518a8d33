/** Texts of one token. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** A signature's 32 bytes are 43 characters of base64url and two unused bits: four texts, which go all for the same. */
export function spellingsOf(token: string): string[] {
  const last = ALPHABET.indexOf(token.at(-1) as string) & ~3
  return [0, 1, 2, 3].map((bits) => token.slice(0, -1) + ALPHABET[last + bits])
}
