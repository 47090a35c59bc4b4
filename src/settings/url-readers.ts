/** Reads settings that are URLs. Throws an Error whose message completes "NAME …". */
import { parseDatabaseUrl } from '../store/database/database-url.ts'
import { readText } from './scalar-readers.ts'

/** Trims the URL and removes slashes at its end: ` http://x/v1/` → `http://x/v1`. */
export function readUrl(raw: unknown): string {
  const url = typeof raw === 'string' ? raw.trim() : ''
  // Rejects characters that a URL must escape, e.g. blanks, because a path is appended to this text.
  if (URL.canParse(url) && /^(https?|demo):[\x21-\xFF]*$/.test(url)) {
    return url.replace(/\/+$/, '')
  }
  throw new Error(
    `must be an address that begins with http:// or https://, not ${JSON.stringify(raw)}.`,
  )
}

export function readDatabaseUrl(raw: unknown): string {
  const url = readText(raw)
  parseDatabaseUrl(url)
  return url
}
