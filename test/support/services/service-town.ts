/** The services behind a gateway, for the length of a test file. */
import { afterAll, beforeAll } from 'vitest'
import { startGateway } from '../gateway.ts'
import { startServices, type Services } from './start-services.ts'

export interface ServiceTown {
  readonly services: Services
  readonly gateway: Awaited<ReturnType<typeof startGateway>>
}

type Settings = Readonly<Record<string, string>>

/** There once the tests of the file have begun. What is set goes before what is there without it. */
export function serviceTown(
  settings: Settings | ((environment: Settings) => Settings) = {},
): ServiceTown {
  let services: Services
  let gateway: ServiceTown['gateway']
  beforeAll(async () => {
    services = await startServices()
    const { environment } = services
    const own = typeof settings === 'function' ? settings(environment) : settings
    gateway = await startGateway({ ...environment, ...own })
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
