/** Everything that is not a value: what the gateway reaches, knows of its host, and remembers. */
import type { Account } from './provider/provider.ts'
import type { Settings } from './settings.ts'
import type { Store } from './store/store.ts'
import type { Transport } from './transport/transport.ts'

export interface World {
  readonly store: Store
  readonly settings: Settings
  readonly accounts: readonly Account[]
  readonly transport: Transport
  readonly newTurnId: () => string
  readonly nowMs: () => number
  readonly log: Log
}

/** Writes one line. Fields never hold keys, prompts or payloads. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  event: string,
  fields?: Readonly<Record<string, string | number | boolean | null>>,
) => void
