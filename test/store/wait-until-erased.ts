/** Waits until no deletion is in progress: that of a long conversation continues after its answer. */
import { vi } from 'vitest'
import type { Engine } from '../../src/store/database/engine-interface.ts'

export async function waitUntilErased(engine: Pick<Engine, 'read'>): Promise<void> {
  await vi.waitFor(
    async () => {
      const [rows = []] = await engine.read([
        { name: null, sql: 'select id from erasures', parameters: [] },
      ])
      if (rows.length > 0) throw new Error('A deletion is still in progress.')
    },
    { timeout: 20_000, interval: 10 },
  )
}
