/**
 * Named secrets as files of mode 0600 in a folder of mode 0700.
 * @see lotus node/repo/fsrepo.go Put, Get
 */
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PetrelError } from '../../src/base/errors.ts'
import type { SecretStore } from '../../src/wallet/secretStore.ts'
import { PlatformError, systemCode } from './errors.ts'

/** Bits that let anyone but the owner read, write or run a file. */
const OTHERS = 0o077
/** What {@link SecretStore} promises of names: nothing that could leave the folder. */
const NAME = /^[A-Z2-7]+$/
const UNFINISHED = '.tmp-'

/** Writes `content` to a new file and to the disk behind it. */
async function writeNew(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the names in a folder survive a loss of power. Windows has no such call and needs none. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

/** What the system says of a file, as an error that names the folder: a disk that fails is no bug of the caller's method. */
async function named<T>(doing: string, folder: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    const reason = systemCode(cause)
    if (cause instanceof PetrelError || reason === '') throw cause
    const code = reason === 'ENOSPC' ? 'STORE_FULL' : 'STORE_FAILED'
    throw new PlatformError(code, `Cannot ${doing} a key in ${folder}: ${reason}`, { folder, reason }, { cause })
  }
}

/** Secrets in the files of a folder. */
export class SecretFiles implements SecretStore {
  readonly #folder: string

  /** @param folder - created with the first entry */
  constructor(folder: string) {
    this.#folder = folder
  }

  async list(): Promise<string[]> {
    const secrets = (await namesIn(this.#folder)).filter((name) => NAME.test(name))
    for (const name of secrets) await this.#assertPrivate(name)
    return secrets
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    const path = this.#path(name)
    if (!(await this.#assertPrivate(name))) return undefined
    return named('read', this.#folder, async () => new Uint8Array(await readFile(path)))
  }

  async create(name: string, content: Uint8Array): Promise<boolean> {
    const path = this.#path(name)
    return this.#viaTemporary(content, async (temporary) => {
      try {
        // A link, unlike a rename, refuses a name that is taken.
        await link(temporary, path)
        return true
      } catch (error) {
        if (systemCode(error) === 'EEXIST') return false
        throw error
      }
    })
  }

  async replace(name: string, content: Uint8Array): Promise<void> {
    const path = this.#path(name)
    await this.#viaTemporary(content, (temporary) => rename(temporary, path))
  }

  async remove(name: string): Promise<boolean> {
    const path = this.#path(name)
    return named('remove', this.#folder, async () => {
      try {
        await rm(path)
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return false
        throw error
      }
      await syncFolder(this.#folder)
      return true
    })
  }

  async sweep(): Promise<void> {
    for (const name of await namesIn(this.#folder)) {
      if (name.startsWith(UNFINISHED)) await rm(join(this.#folder, name), { force: true })
    }
  }

  #viaTemporary<T>(content: Uint8Array, finish: (temporary: string) => Promise<T>): Promise<T> {
    return named('write', this.#folder, () => this.#writeVia(content, finish))
  }

  async #writeVia<T>(content: Uint8Array, finish: (temporary: string) => Promise<T>): Promise<T> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const temporary = join(this.#folder, `${UNFINISHED}${randomUUID()}`)
    try {
      await writeNew(temporary, content)
      return await finish(temporary)
    } finally {
      await rm(temporary, { force: true })
      await syncFolder(this.#folder)
    }
  }

  #path(name: string): string {
    if (!NAME.test(name))
      throw new PlatformError('NAME_INVALID', `Cannot use the secret's name: ${JSON.stringify(name)}`)
    return join(this.#folder, name)
  }

  /** @returns false when there is no such file */
  async #assertPrivate(name: string): Promise<boolean> {
    const path = this.#path(name)
    const mode = await named('read', this.#folder, async () => {
      try {
        return (await stat(path)).mode
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return undefined
        throw error
      }
    })
    if (mode === undefined) return false
    // Windows shows the same bits for every file; the folder's access list is what counts there.
    if (process.platform === 'win32' || (mode & OTHERS) === 0) return true
    const seen = (mode & 0o777).toString(8).padStart(4, '0')
    const text = `permissions of key: '${name}' are too relaxed, required: 0600, got: ${seen}`
    throw new PlatformError('HOME_UNREADABLE', text, { name })
  }
}
