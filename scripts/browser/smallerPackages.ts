/** Packages in bundles, without what nobody there has a use for. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What src/crypto/hashWasm.ts asks it for. */
const HASHES = {
  blake2b: 'createBLAKE2b',
  keccak: 'createKeccak',
  ripemd160: 'createRIPEMD160',
  sha256: 'createSHA256',
}

/**
 * hash-wasm's index holds two dozen hashes in one text that no bundler takes apart (216 kB): its files of these hashes say
 * the same.
 */
export const fewHashes: Plugin = {
  name: 'few-hashes',
  setup(builder) {
    builder.onResolve({ filter: /^hash-wasm$/ }, () => ({ path: 'hash-wasm', namespace: 'few-hashes' }))
    builder.onLoad({ filter: /.*/, namespace: 'few-hashes' }, () => ({
      // By name: what a UMD module exports is not known before it runs, and a chunk's exports have to be.
      contents: Object.entries(HASHES)
        .map(([file, name]) => {
          const path = JSON.stringify(join(ROOT, 'node_modules/hash-wasm/dist', `${file}.umd.min.js`))
          return `import ${file} from ${path}\nexport const { ${name} } = ${file}`
        })
        .join('\n'),
      resolveDir: ROOT,
    }))
  },
}

/**
 * In a process @libp2p/webrtc reads and writes certificates by @peculiar/x509: 5 MB of heap, 0.1 s of a start. Its listener is given
 * one (src/p2p/host/certificate.ts) and reads none; who dials gets one by it then. Keys are the runtime's own.
 */
export const x509WhenDialing: Plugin = {
  name: 'x509-when-dialing',
  setup(builder) {
    const namespace = 'x509-when-dialing'
    const full = join(ROOT, 'node_modules/@libp2p/webrtc/dist/src/private-to-public/utils/generate-certificates.js')
    const contents: Readonly<Record<string, string>> = {
      webcrypto: 'export function Crypto() { return globalThis.crypto }',
      certificates: `export const generateTransportCertificate = async (...of) =>
        (await import(${JSON.stringify(full)})).generateTransportCertificate(...of)`,
      x509: 'export let BasicConstraintsExtension, X509Certificate, X509CertificateGenerator',
    }
    builder.onResolve({ filter: /^@peculiar\/webcrypto$/ }, () => ({ path: 'webcrypto', namespace }))
    builder.onResolve({ filter: /^\.\/generate-certificates\.js$/ }, () => ({ path: 'certificates', namespace }))
    builder.onResolve({ filter: /^@peculiar\/x509$/ }, ({ importer }) =>
      /webrtc.dist.src.private-to-public.transport\.js$/.test(importer) ? { path: 'x509', namespace } : undefined,
    )
    builder.onLoad({ filter: /.*/, namespace }, ({ path }) => ({ contents: contents[path] ?? '', resolveDir: ROOT }))
  },
}

/** A node in a tab checks few secp256k1 signatures: noble's form is enough and 120 kB smaller. */
export const nobleSecp256k1: Plugin = {
  name: 'noble-secp256k1',
  setup(builder) {
    builder.onLoad({ filter: /libauth.*[\\/]crypto[\\/]secp256k1\.js$/ }, () => ({
      contents: `export const instantiateSecp256k1 = () => Promise.reject(new Error('left out of this bundle'))`,
    }))
  },
}

/** How a page reads a file beside its own. */
const FETCHED = 'fetch(new URL(url, import.meta.url)).then((answer) => answer.arrayBuffer())'
/** How a process does. */
const READ = `import('node:fs/promises').then(({ readFile }) => readFile(new URL(url, import.meta.url)))`

/** The WebAssembly of mcl-wasm as a file of its own: in base64 inside a text it is 50 kB larger after gzip. */
export const mclFile: Plugin = mclAsFile(FETCHED)

/** The same in a process, which would keep its 0.6 MB of base64 twice, as a text of its own and in the module's. */
export const mclFileOnDisk: Plugin = mclAsFile(READ)

function mclAsFile(bytes: string): Plugin {
  return {
    name: 'mcl-file',
    setup(builder) {
      const path = join(ROOT, 'node_modules/mcl-wasm/dist/mcl_c.js')
      const source = (): string => readFileSync(path, 'utf8')
      const base64 = /const wasmBase64 = '([A-Za-z0-9+/=]+)';/
      const decoding = /const wasmBytes = Uint8Array\.from\([^;]+;\s*\}\);/
      const compiling = 'WebAssembly.instantiate(wasmBytes, imports)'
      builder.onLoad({ filter: /mcl-wasm.dist.mcl_c\.js$/ }, () => {
        const text = source()
        if (!base64.test(text) || !decoding.test(text) || !text.includes(compiling)) {
          return {
            errors: [{ text: 'mcl-wasm is written in another way now: see scripts/browser/smallerPackages.ts' }],
          }
        }
        return {
          contents: text
            .replace(base64, '')
            .replace(decoding, "const wasmBytes = require('mcl-bytes').wasmBytes();")
            .replace(compiling, 'wasmBytes.then((bytes) => WebAssembly.instantiate(bytes, imports))'),
          resolveDir: join(ROOT, 'node_modules/mcl-wasm/dist'),
        }
      })
      builder.onResolve({ filter: /^mcl-bytes$/ }, () => ({ path: 'mcl-bytes', namespace: 'mcl' }))
      builder.onLoad({ filter: /^mcl-bytes$/, namespace: 'mcl' }, () => ({
        contents: `import url from './mcl.wasm'
export const wasmBytes = () => ${bytes}`,
      }))
      builder.onResolve({ filter: /^\.\/mcl\.wasm$/, namespace: 'mcl' }, () => ({ path: 'mcl.wasm', namespace: 'mcl' }))
      builder.onLoad({ filter: /^mcl\.wasm$/, namespace: 'mcl' }, () => ({
        contents: new Uint8Array(Buffer.from(base64.exec(source())?.[1] ?? '', 'base64')),
        loader: 'file',
      }))
    },
  }
}

/** The WebAssembly of libsecp256k1 as a file of its own, in a process: its base64 is read in JavaScript, one letter after the other. */
export const secp256k1FileOnDisk: Plugin = {
  name: 'secp256k1-file',
  setup(builder) {
    const folder = join(ROOT, 'node_modules/@bitauth/libauth/build/lib/bin/secp256k1')
    const namespace = 'secp256k1'
    const decoding = 'base64ToBin(secp256k1Base64Bytes).buffer'
    builder.onLoad({ filter: /libauth.*[\\/]bin[\\/]secp256k1[\\/]secp256k1-wasm\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes(decoding)) {
        return { errors: [{ text: 'libauth is written in another way now: see scripts/browser/smallerPackages.ts' }] }
      }
      return {
        contents: `import { secp256k1Bytes } from 'secp256k1-bytes'\n${text.replace(decoding, 'secp256k1Bytes()')}`,
        resolveDir: folder,
      }
    })
    builder.onResolve({ filter: /^secp256k1-bytes$/ }, () => ({ path: 'bytes', namespace }))
    builder.onResolve({ filter: /^\.\/secp256k1\.wasm$/, namespace }, () => ({ path: 'secp256k1.wasm', namespace }))
    builder.onLoad({ filter: /^bytes$/, namespace }, () => ({
      contents: `import { readFileSync } from 'node:fs'
import url from './secp256k1.wasm'
export const secp256k1Bytes = () => new Uint8Array(readFileSync(new URL(url, import.meta.url))).buffer`,
    }))
    builder.onLoad({ filter: /^secp256k1\.wasm$/, namespace }, () => {
      const [, base64 = ''] =
        /'([A-Za-z0-9+/=]{1000,})'/.exec(readFileSync(join(folder, 'secp256k1.base64.js'), 'utf8')) ?? []
      return { contents: new Uint8Array(Buffer.from(base64, 'base64')), loader: 'file' }
    })
  },
}
