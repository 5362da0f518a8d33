/** The whole size, bytes, that an answer's `Content-Range: bytes 0-99/1234` tells; undefined: it tells none. @see RFC 9110 section 14.4 */
export function sizeOfRange(contentRange: string | null): number | undefined {
  const size = /^bytes \d+-\d+\/(\d+)$/.exec(contentRange ?? '')?.[1]
  return size === undefined ? undefined : Number(size)
}
