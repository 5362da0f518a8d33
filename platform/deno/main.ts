/**
 * The `petrel` program in Deno: `deno task petrel …`. Deno's own `node:` modules are the shims (test/contract runs in Deno
 * too); its HTTP server by node:http answers twice as many requests per second here as Deno.serve.
 */
import '../node/main.ts'
