/** Opens the database that `DATABASE_URL` names, on Node: connected, migrated and ready. */
import { parseDatabaseUrl, type DatabaseLocation } from './database-url.ts'
import { openNodeSqlite } from './node-sqlite-engine.ts'
import type { Engine } from './engine-interface.ts'
import { createTurnStore } from '../turns/kysely-turn-store.ts'
import { migrate } from './migrate.ts'
import type { TurnStore } from '../turns/turn-store-interface.ts'

export async function openTurnStore(databaseUrl: string): Promise<TurnStore> {
  return createTurnStore(await openEngine(databaseUrl))
}

/** What the ports of the memory are made over: one engine for all of them. */
export async function openEngine(databaseUrl: string): Promise<Engine> {
  const open = engineOf(databaseUrl)
  try {
    const engine = await open()
    await migrate(engine).catch(async (error: unknown) => {
      await engine.close()
      throw error
    })
    return engine
  } catch (cause) {
    throw new Error(`The database of DATABASE_URL cannot be opened: ${reason(cause)}`, { cause })
  }
}

function engineOf(databaseUrl: string): () => Promise<Engine> {
  const place = placeIn(databaseUrl)
  if (place.type === 'sqlite') return () => openNodeSqlite(place.path)
  // Loaded only where it is used: it takes memory.
  return async () => (await import('./postgres-engine.ts')).openPostgres(place.url)
}

function placeIn(databaseUrl: string): DatabaseLocation {
  try {
    return parseDatabaseUrl(databaseUrl)
  } catch (cause) {
    throw new Error(`DATABASE_URL ${reason(cause)}`, { cause })
  }
}

/** An address that does not answer is an error without words, but with a code. */
function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { code } = cause as NodeJS.ErrnoException
  return cause.message || code || cause.name
}
