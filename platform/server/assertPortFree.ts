/** Looks whether ports can be listened on, before a start has written anything. */
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { authority } from './apiAddress.ts'
import { PlatformError, systemCode } from './errors.ts'

/** Takes a port and lets it go again; rejects with the system's error. */
function takeTcp(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, host, () => server.close(() => resolve()))
  })
}

function takeUdp(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    socket.once('error', (error) => socket.close(() => reject(error)))
    socket.bind(port, host, () => socket.close(() => resolve()))
  })
}

/**
 * @param port - 0: any, which is always free
 * @param option - what the command line calls it
 * @throws PlatformError `ADDRESS_IN_USE`, `LISTEN_FAILED`
 */
export async function assertPortFree(
  host: string,
  port: number,
  option = '--api',
  transport: 'tcp' | 'udp' = 'tcp',
): Promise<void> {
  if (port === 0) return
  try {
    await (transport === 'tcp' ? takeTcp(host, port) : takeUdp(host, port))
  } catch (cause) {
    const used = systemCode(cause) === 'EADDRINUSE'
    const reason = used ? `the port is in use; ${option} takes another` : (cause as Error).message
    const code = used ? 'ADDRESS_IN_USE' : 'LISTEN_FAILED'
    throw new PlatformError(code, `Cannot listen on ${authority({ host, port })}: ${reason}`, { host, port }, { cause })
  }
}
