/**
 * Removes API keys from texts: an upstream's error message may repeat the key that it was sent, which
 * would then reach clients and the log.
 */
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import type { Account } from '../../providers/provider-interface.ts'

/** Returns a function that removes these keys, and any key in the query of a URL, from a text. */
export function createKeyRemover(keys: readonly string[]): (text: string) => string {
  const patterns = keys.filter(({ length }) => length >= MIN_KEY_CHARS).map(matchKey)
  const anyKey = new RegExp([...new Set(patterns), QUERY_KEY].join('|'), 'g')
  return (text) => text.replace(anyKey, REMOVED)
}

const REMOVED = '[key removed]'

/** Shorter keys are no secrets, but words such as `none` or `ollama` for servers that need no key. */
const MIN_KEY_CHARS = 8

/**
 * Matches a key, and any text that begins with its first half, up to the end of that text. Otherwise a client that makes
 * an upstream repeat guesses could find the key letter by letter, from how much of a guess is removed. A text with only
 * the first letters, such as `sk-ab***xyz`, stays.
 */
function matchKey(key: string): string {
  const start = key.slice(0, Math.max(MIN_START_CHARS, Math.ceil(key.length / 2)))
  return `(?:${escapeForRegExp(key)}|${escapeForRegExp(start)})(?:[\\w+/=~.-]*[\\w+/=~-])?`
}

/** More than the prefix that all keys of a provider have, such as `sk-proj-`. */
const MIN_START_CHARS = 12

/** Matches the value of a parameter such as `?key=…`, with which Google's APIs can be called. */
const QUERY_KEY = String.raw`(?<=[?&](?:key|api[-_]?key|access_token|token)=)[^&\s"'<>\\[\]]+`

function escapeForRegExp(text: string): string {
  return text.replace(/\W/g, String.raw`\$&`)
}

/** Lists the secrets that an upstream is sent: its API key, and the values of headers such as `x-token`. */
export function listAccountKeys({ apiKey, headers }: Account): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    SECRET_HEADER.test(name) ? value.split(/\s+/) : [],
  )
  return apiKey === null ? values : [apiKey, ...values]
}

const SECRET_HEADER = /auth|cookie|credential|key|pass|secret|signature|token/i

/** Returns the function that removes the keys of an account, which are all that its upstream can repeat. */
export const getAccountKeyRemover = cachePerObject((account: Account) =>
  createKeyRemover(listAccountKeys(account)),
)
