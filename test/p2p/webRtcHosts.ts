/**
 * Run in a process of its own by hostWebRtc.test.ts: two hosts over WebRTC-direct. Prints one line of JSON. The native
 * library below WebRTC does not bear the several threads of a test runner.
 */
import { nodeTransports } from '../../platform/server/transports.ts'
import { newHome, newHost, soon, until } from './testHosts.ts'

const BYTES = 1_000_003
const listen = ['/ip4/127.0.0.1/udp/0/webrtc-direct']

const home = newHome()
const first = await newHost({ listen }, home, nodeTransports)
await first.start()
const before = first.net.addresses()
await first.stop()

const server = await newHost({ listen }, home, nodeTransports)
server.links.handle('/test/echo/1', async (_peer, stream) => {
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) await stream.write(chunk)
  await stream.closeWrite()
})
await server.start()
const client = await newHost({ listen: [] }, newHome(), nodeTransports)
await client.start()
await client.net.connect(server.net.addresses(), soon())
await until(() => client.links.speaks(server.id, '/test/echo/1'), 'identify')
const stream = await client.links.open(server.id, ['/test/echo/1'], soon())
const sent = Uint8Array.from({ length: BYTES }, (_, i) => i * 7)
const writing = stream.write(sent).then(() => stream.closeWrite())
const chunks: Uint8Array[] = []
for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) chunks.push(chunk)
await writing
const equal = Buffer.compare(Buffer.concat(chunks), sent) === 0
console.log(
  JSON.stringify({
    equal,
    before,
    after: server.net.addresses(),
    over: client.net.connections()[0]?.address,
    received: client.net.trafficByProtocol().get('/test/echo/1')?.totalIn,
  }),
)
await client.stop()
await server.stop()
process.exit(0)
