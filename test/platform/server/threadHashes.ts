/** Becomes a thread of the machine, and says what it hashes with. */
import assert from 'node:assert/strict'
import { parentPort } from 'node:worker_threads'
import '../../../platform/server/vmWorker.ts'
import { hashBackend } from '../../../src/crypto/hashBackend.ts'

assert(parentPort !== null)
parentPort.postMessage(hashBackend().name)
