/**
 * Messages that the recorded node had in its pool but that no block holds (one that was replaced): they are signed again
 * with the recorded keys, because the archive does not have them.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { decode, encode } from '../../src/codec/description.ts'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import { type Blockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { message, messageCid } from '../../src/types/message.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { keyOf, signWith } from '../../src/wallet/key.ts'
import { keyInfo } from '../../src/wallet/keyInfo.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const

function lines(path: string): string[] {
  return zstdDecompressSync(readFileSync(path)).toString('utf8').split('\n')
}

/** Puts them where the node looks for messages. */
export function putPooledMessages(folder: string, blocks: Blockstore): void {
  const keysPath = join(folder, 'keys.json.zst')
  if (!existsSync(keysPath)) return
  const keys = parseJson(zstdDecompressSync(readFileSync(keysPath)).toString('utf8')) as { [address: string]: Json }
  for (const line of lines(join(folder, 'chain.jsonl.zst'))) {
    if (!line.includes('"what":"replaced"')) continue
    const { result } = (parseJson(line) as { response: { result: Json } }).response
    const one = decode(message, encode(message, message.fromJson(result, JSON_CONTEXT)))
    const key = keys[one.from.toString('t')]
    if (key === undefined) continue
    const signature = signWith(keyOf(keyInfo.fromJson(key, JSON_CONTEXT)), messageCid(one).bytes)
    putCbor(blocks, signedMessage, { message: one, signature })
  }
}
