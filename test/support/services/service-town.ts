/** The services behind a gateway, for the length of a test file. */
import { afterAll, beforeAll } from 'vitest'
import { startGateway } from '../gateway.ts'
import { startServices, type Services } from './start-services.ts'

export interface ServiceTown {
  readonly services: Services
  readonly gateway: Awaited<ReturnType<typeof startGateway>>
}

/** There once the tests of the file have begun. */
export function serviceTown(settings: Readonly<Record<string, string>> = {}): ServiceTown {
  let services: Services
  let gateway: ServiceTown['gateway']
  beforeAll(async () => {
    services = await startServices()
    gateway = await startGateway({ ...services.environment, ...settings })
  })
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
