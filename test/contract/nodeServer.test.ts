/** The server of Node. */
import { startServer } from '../../platform/server/httpServer.ts'
import { rpcServerContract } from './rpcServer.ts'

rpcServerContract('Node', startServer)
