/** Opens the database that `DATABASE_URL` names, on Node: connected, migrated and ready. */
import { openNodeSqlite } from './engine-node-sqlite.ts'
import type { Engine } from './engine.ts'
import { createStore } from './kysely-store.ts'
import { migrate } from './migrate.ts'
import type { Store } from './store.ts'

export async function openStore(databaseUrl: string): Promise<Store> {
  return createStore(await openEngine(databaseUrl))
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
  const colon = databaseUrl.indexOf(':')
  const scheme = databaseUrl.slice(0, Math.max(colon, 0))
  if (scheme === 'sqlite') {
    const path = sqlitePath(databaseUrl.slice(colon + 1))
    return () => openNodeSqlite(path)
  }
  if (scheme === 'postgres' || scheme === 'postgresql') {
    if (!URL.canParse(databaseUrl)) throw wrongUrl('is not a URL that can be read')
    // Loaded only where it is used: it takes memory.
    return async () => (await import('./engine-postgres.ts')).openPostgres(databaseUrl)
  }
  throw wrongUrl(
    /^\w+$/.test(scheme) ? `starts with \`${scheme}:\`` : 'does not start with a scheme',
  )
}

/** Both `sqlite:/data/x.db` and `sqlite:///data/x.db` name a file by its whole path. */
function sqlitePath(rest: string): string {
  const path = rest.startsWith('///') ? rest.slice(2) : rest
  if (path === '' || path.startsWith('//')) throw wrongUrl('names no file')
  return path
}

/** Says nothing of the URL but what is wrong with it, for there may be a password in it. */
function wrongUrl(fault: string): Error {
  return new Error(
    `DATABASE_URL ${fault}. Use \`sqlite:./data/backstory.db\`, \`sqlite::memory:\` or \`postgres://user:password@host:5432/database\`.`,
  )
}

/** An address that does not answer is an error without words, but with a code. */
function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { code } = cause as NodeJS.ErrnoException
  return cause.message || code || cause.name
}
