/** The two homes of the gateway, as the end-to-end tests start them. */
import { createTestHarness } from 'wrangler'
import { startGateway } from '../support/gateway.ts'

export interface Host {
  readonly url: string
  readonly close: () => Promise<void>
}

export type StartHost = (environment: Readonly<Record<string, string>>) => Promise<Host>

export const HOSTS: readonly (readonly [string, StartHost])[] = [
  ['Node', startGateway],
  ['workerd', startWorker],
]

async function startWorker(environment: Readonly<Record<string, string>>): Promise<Host> {
  process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false'
  process.env['WRANGLER_SEND_METRICS'] = 'false'
  const harness = createTestHarness({
    root: new URL('../..', import.meta.url).pathname,
    workers: [{ configPath: 'wrangler.toml', vars: { MEDIA_FETCH: 'off', ...environment } }],
  })
  const { url } = await harness.listen()
  await harness.getWorker<{ DB: never }>().applyD1Migrations('DB')
  return { url: url.origin, close: () => harness.close() }
}
