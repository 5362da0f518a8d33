/** Looks whether a port can be listened on, before a start has written anything. */
import { createServer } from 'node:net'
import { PlatformError, systemCode } from './errors.ts'

/**
 * @param port - 0: any, which is always free
 * @throws PlatformError `ADDRESS_IN_USE`, `LISTEN_FAILED`
 */
export function assertPortFree(host: string, port: number): Promise<void> {
  if (port === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (cause) => {
      const used = systemCode(cause) === 'EADDRINUSE'
      const reason = used ? 'the port is in use; --api takes another' : cause.message
      const code = used ? 'ADDRESS_IN_USE' : 'LISTEN_FAILED'
      reject(new PlatformError(code, `Cannot listen on ${host}:${port}: ${reason}`, { host, port }, { cause }))
    })
    server.listen(port, host, () => server.close(() => resolve()))
  })
}
