/** A chain for others to join: its `network.json` and, beside it, its `genesis.car`. Node and Deno. */
import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { toHex, utf8 } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import type { ChainStore } from '../../src/chain/chainStore.ts'
import { type GenesisPart, readGenesisCar, writeGenesisCar } from '../../src/chain/genesisCar.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { sha256 } from '../../src/crypto/hashes.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import { BUILTIN_NETWORKS, builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { Network } from '../../src/networks/network.ts'
import { networkJson } from '../../src/networks/networkJson.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import type { ActorBundles } from './actorBundles.ts'
import { PlatformError, systemCode } from './errors.ts'
import { openFileSource } from './fileSource.ts'
import { readTextFile, writeFile } from './home.ts'

const GENESIS_FILE = 'genesis.car'
/** In the home of a local chain, and of a restored one. */
export const NETWORK_FILE = 'network.json'

/** A network by its built-in name or from a file. @throws PlatformError `CONFIG_INVALID` */
export function findNetwork(name: string): Network {
  if (BUILTIN_NETWORKS.includes(name)) return builtinNetwork(name)
  const text = readTextFile(name)
  if (text === undefined) {
    const message = `Cannot find the network ${name}: neither a file nor one of ${BUILTIN_NETWORKS.join(', ')}`
    throw new PlatformError('CONFIG_INVALID', message)
  }
  return parseNamed(name, text)
}

/** What the file says without its digest: a changed bit may well be another network. */
function digestOf(fields: Json): string {
  return toHex(sha256(utf8(stringifyJson(fields))))
}

/** @throws PlatformError `CONFIG_INVALID`, which names the file */
function parseNamed(path: string, text: string): Network {
  try {
    const json = parseJson(text)
    if (typeof json === 'object' && json !== null && !Array.isArray(json) && 'digest' in json) {
      const { digest, ...fields } = json
      if (digest !== digestOf(fields)) {
        const reason = 'its digest is another: it was damaged, or edited; who edits it takes its digest out'
        throw new PlatformError('CONFIG_INVALID', reason)
      }
    }
    return parseNetwork(json)
  } catch (cause) {
    const message = `Cannot read the network file ${path}: ${errorMessage(cause)}`
    throw new PlatformError('CONFIG_INVALID', message, { path }, { cause })
  }
}

/** The network that an earlier start wrote into a folder. @throws PlatformError `CONFIG_INVALID` */
export function keptNetwork(folder: string): Network | undefined {
  const path = join(folder, NETWORK_FILE)
  const text = readTextFile(path)
  return text === undefined ? undefined : parseNamed(path, text)
}

/**
 * Writes both files into a folder.
 * @param network - with its genesis
 * @param bundles - where the code of its actors is, which is part of the genesis when they are Wasm
 * @returns the path of the network file
 */
export function writeNetworkFiles(folder: string, network: Network, store: ChainStore, bundles: ActorBundles): string {
  const path = join(folder, NETWORK_FILE)
  const fields = networkJson(network) as { readonly [key: string]: Json }
  writeFile(path, `${stringifyJson({ ...fields, digest: digestOf(fields) })}\n`)
  if (network.genesisCid !== null) {
    const code = network.actors === 'wasm' ? (cid: Cid) => bundles.code(cid) : undefined
    writeFile(join(folder, GENESIS_FILE), writeGenesisCar(store.blocks, network.genesisCid, code))
  }
  return path
}

/**
 * What copies a network's genesis CAR into a store: the file named, else the one beside the network's file. It is read in parts: a
 * local chain's has 8 MB, which a node would keep, and after an array of that size glibc gives less memory back.
 * @returns undefined when there is no such file
 * @throws PlatformError `CONFIG_INVALID` when the file was named and cannot be read
 */
export function genesisImporter(
  networkFile: string,
  genesisFile: string | undefined,
): ((blocks: Blockstore, part: GenesisPart) => Promise<Cid>) | undefined {
  if (genesisFile === undefined && BUILTIN_NETWORKS.includes(networkFile)) return undefined
  const path = genesisFile ?? join(dirname(networkFile), GENESIS_FILE)
  try {
    accessSync(path, constants.R_OK)
  } catch (cause) {
    if (genesisFile === undefined && systemCode(cause) === 'ENOENT') return undefined
    throw new PlatformError('CONFIG_INVALID', `Cannot read the genesis ${path}: ${systemCode(cause)}`, {}, { cause })
  }
  return async (blocks, part) => {
    const source = openFileSource(path)
    try {
      return readGenesisCar(blocks, source, part)
    } finally {
      source.close()
    }
  }
}
