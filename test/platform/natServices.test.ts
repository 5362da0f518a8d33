/** What tells a process whether the internet reaches it. */
import { afterEach, expect, it } from 'vitest'
import { natServices } from '../../platform/server/natServices.ts'
import { connect, newHost, stopHosts } from '../p2p/testHosts.ts'

afterEach(stopHosts)

it('AutoNAT is offered to others; a loopback address is nothing that the internet reaches', async () => {
  const [one, other] = [await newHost({ services: await natServices(false) }), await newHost()]
  await one.start()
  await other.start()
  await connect(other, one)
  expect((await other.net.details(one.id)).protocols).toContain('/libp2p/autonat/1.0.0')
  expect(one.net.reachability()).toEqual({ status: 'unknown', publicAddresses: [] })
})
