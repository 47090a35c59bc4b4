/** Starts a gateway with the test services as upstreams, for all tests of a file. */
import { afterAll, beforeAll } from 'vitest'
import { startGateway } from '../gateway.ts'
import { startServices, type Services } from './start-services.ts'

export interface GatewayWithServices {
  readonly services: Services
  readonly gateway: Awaited<ReturnType<typeof startGateway>>
}

type Settings = Readonly<Record<string, string>>

/**
 * The returned properties are available once the tests of the file run. `settings` override the default ones.
 */
export function useGatewayWithServices(
  settings: Settings | ((environment: Settings) => Settings) = {},
): GatewayWithServices {
  let services: Services
  let gateway: GatewayWithServices['gateway']
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
