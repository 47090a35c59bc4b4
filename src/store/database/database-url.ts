/** What `DATABASE_URL` says. A fault is an Error whose message completes "DATABASE_URL …". */

export type DatabaseLocation =
  | { readonly type: 'sqlite'; readonly path: string }
  | { readonly type: 'postgres'; readonly url: string }

export function parseDatabaseUrl(databaseUrl: string): DatabaseLocation {
  const colon = databaseUrl.indexOf(':')
  const scheme = databaseUrl.slice(0, Math.max(colon, 0))
  if (scheme === 'sqlite') return { type: 'sqlite', path: sqlitePath(databaseUrl.slice(colon + 1)) }
  if (scheme === 'postgres' || scheme === 'postgresql') {
    if (!URL.canParse(databaseUrl)) throw fault('is not a URL that can be read')
    return { type: 'postgres', url: databaseUrl }
  }
  throw fault(/^\w+$/.test(scheme) ? `starts with \`${scheme}:\`` : 'does not start with a scheme')
}

/** Both `sqlite:/data/x.db` and `sqlite:///data/x.db` name a file by its whole path. */
function sqlitePath(rest: string): string {
  const path = rest.startsWith('///') ? rest.slice(2) : rest
  if (path === '' || path.startsWith('//')) throw fault('names no file')
  return path
}

/** Says nothing of the URL but what is wrong with it, for there may be a password in it. */
function fault(words: string): Error {
  return new Error(
    `${words}. Use \`sqlite:./data/backstory.db\`, \`sqlite::memory:\` or \`postgres://user:password@host:5432/database\`.`,
  )
}
