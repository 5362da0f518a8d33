/** Arguments of this repository's own programs; the comment at a program's head is its help. */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** The first comment of a program, without its marks. */
function headComment(file: string): string {
  const [, comment = ''] = /\/\*\*([\s\S]*?)\*\//.exec(readFileSync(file, 'utf8')) ?? []
  return comment.replace(/^ *\* ?/gm, '').trim()
}

/**
 * As `parseArgs` of `node:util`, and `--help`: prints the head comment and ends. What cannot be read ends the program with
 * exit code 2, the reason and that comment.
 * @param file - the program's own, `import.meta.filename`
 */
export function programArgs<const T extends ParseArgsConfig>(file: string, config: T): ReturnType<typeof parseArgs<T>> {
  if (process.argv.slice(2).includes('--help')) {
    console.log(headComment(file))
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code?.startsWith('ERR_PARSE_ARGS') !== true) throw error
    console.error(`${message}\n\n${headComment(file)}`)
    process.exit(2)
  }
}
