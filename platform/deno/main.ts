/**
 * The `petrel` program in Deno: `deno task petrel …`. Deno's own `node:` modules are the shims (test/contract runs in Deno
 * too); its HTTP server by node:http answers twice as many requests per second here as Deno.serve.
 */
import process from 'node:process'
import '../node/main.ts'

// WebRTC's native library, once loaded, would keep Deno running for ever.
process.exit()
