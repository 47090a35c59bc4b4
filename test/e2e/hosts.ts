/**
 * The two homes of the gateway, as the end-to-end tests start them. Either is held to what it says that
 * it sent, by the time that it closes.
 */
import { expect } from 'vitest'
import { createTestHarness } from 'wrangler'
import { openD1, type D1Binding } from '../../src/store/database/d1-engine.ts'
import { startGateway } from '../support/gateway.ts'
import { storedFaults } from '../support/watch-explained.ts'

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
  const worker = harness.getWorker<{ DB: D1Binding }>()
  await worker.applyD1Migrations('DB')
  return {
    url: url.origin,
    async close() {
      const faults = await storedFaults(openD1((await worker.getEnv()).DB), environment)
      await harness.close()
      expect(faults).toEqual([])
    },
  }
}
