/** Parses `DATABASE_URL`. The message of an error completes the sentence "DATABASE_URL …". */

export type DatabaseLocation =
  | { readonly type: 'sqlite'; readonly path: string }
  | { readonly type: 'postgres'; readonly url: string }

export function parseDatabaseUrl(databaseUrl: string): DatabaseLocation {
  const colon = databaseUrl.indexOf(':')
  const scheme = databaseUrl.slice(0, Math.max(colon, 0))
  if (scheme === 'sqlite')
    return { type: 'sqlite', path: readSqlitePath(databaseUrl.slice(colon + 1)) }
  if (scheme === 'postgres' || scheme === 'postgresql') {
    if (!URL.canParse(databaseUrl)) throw createUrlError('is not a URL that can be read')
    return { type: 'postgres', url: databaseUrl }
  }
  throw createUrlError(
    /^\w+$/.test(scheme) ? `starts with \`${scheme}:\`` : 'does not start with a scheme',
  )
}

/**
 * Returns the path of the SQLite file, e.g. `/data/x.db` for `sqlite:/data/x.db` and for
 * `sqlite:///data/x.db`.
 */
function readSqlitePath(address: string): string {
  const path = address.startsWith('///') ? address.slice(2) : address
  if (path === '' || path.startsWith('//')) throw createUrlError('names no file')
  return path
}

/** Builds the error without the URL, which may contain a password. */
function createUrlError(problem: string): Error {
  return new Error(
    `${problem}. Use \`sqlite:./data/backstory.db\`, \`sqlite::memory:\` or \`postgres://user:password@host:5432/database\`.`,
  )
}
