/** Starts a gateway host with the test services as upstreams, for a block of tests. */
import type OpenAI from 'openai'
import { afterAll, beforeAll } from 'vitest'
import { openaiFor } from '../support/gateway.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import type { Host, StartHost } from './hosts.ts'

export interface ServiceHost {
  readonly services: Services
  readonly host: Host
  readonly openai: OpenAI
}

/** The returned properties are available once the tests of the block run. */
export function useHostWithServices(start: StartHost): ServiceHost {
  let services: Services
  let host: Host
  let openai: OpenAI
  beforeAll(async () => {
    services = await startServices()
    host = await start(services.environment)
    openai = openaiFor(host.url)
  })
  afterAll(async () => {
    await host.close()
    await services.close()
  })
  return {
    get services() {
      return services
    },
    get host() {
      return host
    },
    get openai() {
      return openai
    },
  }
}
