/**
 * Starts the gateway on Node and inside workerd for the end-to-end tests. When a host closes, it checks that
 * all explanations match the requests sent.
 */
import { expect } from 'vitest'
import { createTestHarness } from 'wrangler'
import { openD1, type D1Binding } from '../../src/store/database/d1-engine.ts'
import { startGateway } from '../support/gateway.ts'
import { findFaultsInDatabase } from '../support/watch-explained.ts'

export interface Host {
  readonly url: string
  readonly close: () => Promise<void>
}

export type StartHost = (environment: Readonly<Record<string, string>>) => Promise<Host>

export const HOSTS: readonly (readonly [string, StartHost])[] = [
  ['Node', startGateway],
  ['workerd', startWorker],
]

/** The Worker with a D1 that enforces the documented limits, which the local one does not. */
const LIMITED_WORKER = 'test/e2e/limited-worker/wrangler.toml'

export async function startWorker(environment: Readonly<Record<string, string>>): Promise<Host> {
  process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false'
  process.env['WRANGLER_SEND_METRICS'] = 'false'
  const harness = createTestHarness({
    root: new URL('../..', import.meta.url).pathname,
    workers: [{ configPath: LIMITED_WORKER, vars: { MEDIA_FETCH: 'off', ...environment } }],
  })
  const { url } = await harness.listen()
  const worker = harness.getWorker<{ DB: D1Binding }>()
  await worker.applyD1Migrations('DB')
  return {
    url: url.origin,
    async close() {
      const faults = await findFaultsInDatabase(openD1((await worker.getEnv()).DB), environment)
      await harness.close()
      expect(faults).toEqual([])
    },
  }
}
