import { expect, it } from 'vitest'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { discoverMethod } from '../../src/rpc/openRpc.ts'
import { createMethodTable, type MethodTable } from '../../src/rpc/table.ts'
import { silentLog, stubRows, stubVerifier } from './stubTable.ts'

it('rpc.discover makes its document once for a path, however often it is asked', async () => {
  let listed = 0
  const info = { title: 'Petrel', version: '1' }
  const table: MethodTable = createMethodTable([...stubRows, discoverMethod(() => counting, info)])
  const counting: MethodTable = {
    ...table,
    list: (version) => {
      listed++
      return table.list(version)
    },
  }
  const engine = new RpcEngine({ table, json: { addressPrefix: 't' }, log: silentLog })
  const handler = new HttpHandler(engine, { verifier: stubVerifier })
  const ask = async (url: string, body: string): Promise<string> =>
    (await handler.handle({ verb: 'POST', url, header: () => undefined, body })).body
  const call = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover","params":[]}'
  const first = await ask('/rpc/v1', call)
  const { result } = JSON.parse(first) as { result: { methods: { name: string }[] } }
  expect(result.methods.map(({ name }) => name)).toContain('Filecoin.Discover')
  expect(await ask('/rpc/v1', call)).toBe(first)
  await ask('/rpc/v1', `[${Array<string>(100).fill(call).join()}]`)
  expect(listed).toBe(1)
  await ask('/rpc/v0', call)
  await ask('/rpc/v0', call)
  expect(listed).toBe(2)
})
