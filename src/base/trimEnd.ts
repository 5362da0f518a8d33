/** A text without what it ends with, once or again and again. A regular expression would look from each place of a row that is in its midst. */
export function trimEnd(text: string, end: string): string {
  let { length } = text
  while (length > 0 && text.endsWith(end, length)) length -= end.length
  return text.slice(0, length)
}
