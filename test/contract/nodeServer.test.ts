/** The server of Node. */
import { startServer } from '../../platform/node/httpServer.ts'
import { rpcServerContract } from './rpcServer.ts'

rpcServerContract('Node', startServer)
