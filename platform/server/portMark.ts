/**
 * A mark on the API's port for as long as a node runs. Where threads answer reads the port is a shared one (`SO_REUSEPORT`), and the
 * system lets any process of the same user share it: of two nodes that start at the same time each would get some of the other's
 * clients. The mark is an abstract Unix socket, which one process can have, ends with it however it ends, and is of the network
 * namespace that the port is of.
 * @see socket(7) SO_REUSEPORT, unix(7) abstract
 */
import { createServer } from 'node:net'
import { authority } from './apiAddress.ts'
import { PlatformError, systemCode } from './errors.ts'

/**
 * Takes the mark; none where there are no such sockets, or for any free port.
 * @returns what gives it back
 * @throws PlatformError `ADDRESS_IN_USE`: another node has it
 */
export async function holdPort(host: string, port: number): Promise<() => Promise<void>> {
  if (port === 0 || process.platform !== 'linux') return () => Promise.resolve()
  const mark = createServer((socket) => socket.destroy())
  const place = authority({ host, port })
  await new Promise<void>((resolve, reject) => {
    mark.once('error', (cause) => {
      // A sandbox may have no Unix sockets.
      if (systemCode(cause) !== 'EADDRINUSE') return resolve()
      const reason = 'another node has the port; --api takes another'
      reject(new PlatformError('ADDRESS_IN_USE', `Cannot listen on ${place}: ${reason}`, { host, port }, { cause }))
    })
    mark.listen(`\0petrel-api-${place}`, resolve)
  })
  mark.unref()
  return () => new Promise((resolve) => void mark.close(() => resolve()))
}
