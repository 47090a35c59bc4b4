/** The services behind a gateway, for the length of a test file. */
import { afterAll, afterEach, beforeAll } from 'vitest'
import { watchExplained } from '../explained.ts'
import { startGateway } from '../gateway.ts'
import { startServices, type Services } from './start-services.ts'

export interface ServiceTown {
  readonly services: Services
  readonly gateway: Awaited<ReturnType<typeof startGateway>>
}

/** There once the tests of the file have begun. */
export function serviceTown(): ServiceTown {
  let services: Services
  let gateway: ServiceTown['gateway']
  let expectExplained: () => Promise<void>
  beforeAll(async () => {
    services = await startServices()
    gateway = await startGateway(services.environment)
    expectExplained = watchExplained(gateway, services)
  })
  // What is said to have been sent is what arrived.
  afterEach(() => expectExplained())
  afterAll(async () => {
    await gateway.close()
    await services.close()
  })
  return {
    get services() {
      return services
    },
    get gateway() {
      return gateway
    },
  }
}
