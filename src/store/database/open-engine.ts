/** Opens the database of `DATABASE_URL` on Node: connects to it and applies missing migrations. */
import { DEFAULT_CACHE_SIZES } from '../cache-sizes.ts'
import { parseDatabaseUrl, type DatabaseLocation } from './parse-database-url.ts'
import { failFastWhileSilent } from './fail-fast-while-silent.ts'
import { openNodeSqlite } from './node-sqlite-engine.ts'
import type { Engine } from './engine-interface.ts'
import { createTurnStore } from '../turns/sql-turn-store.ts'
import { migrate } from './migrate.ts'
import type { TurnStore } from '../turns/turn-store-interface.ts'

export async function openTurnStore(databaseUrl: string): Promise<TurnStore> {
  return createTurnStore(await openEngine(databaseUrl))
}

/** Opens the engine that all stores share. `pageCacheBytes`: maximum memory for pages of a SQLite file. */
export async function openEngine(
  databaseUrl: string,
  pageCacheBytes = DEFAULT_CACHE_SIZES.pages,
): Promise<Engine> {
  const open = chooseEngine(databaseUrl, pageCacheBytes)
  try {
    const engine = await open()
    await migrate(engine).catch(async (error: unknown) => {
      await engine.close()
      throw error
    })
    return engine
  } catch (cause) {
    throw new Error(`The database of DATABASE_URL cannot be opened: ${describeError(cause)}`, {
      cause,
    })
  }
}

function chooseEngine(databaseUrl: string, pageCacheBytes: number): () => Promise<Engine> {
  const location = parseLocation(databaseUrl)
  if (location.type === 'sqlite') return () => openNodeSqlite(location.path, pageCacheBytes)
  // Imports the Postgres driver only when it is needed, because the driver takes memory.
  return async () => {
    const { openPostgres } = await import('./postgres-engine.ts')
    return failFastWhileSilent(openPostgres(location.url))
  }
}

function parseLocation(databaseUrl: string): DatabaseLocation {
  try {
    return parseDatabaseUrl(databaseUrl)
  } catch (cause) {
    throw new Error(`DATABASE_URL ${describeError(cause)}`, { cause })
  }
}

/**
 * Returns the message of an error, or its code if the message is empty, as for a refused
 * connection.
 */
function describeError(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { code } = cause as NodeJS.ErrnoException
  return cause.message || code || cause.name
}
