/** Waits for something that another process does, by looking again and again: there is nothing here to be told by. */

const LOOK_MS = 100

/** @param what - what is waited for, or what tells it as it is then */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string),
  ms = 60_000,
): Promise<void> {
  const end = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > end) {
      throw new Error(`waited ${ms} ms until ${typeof what === 'string' ? what : what()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
