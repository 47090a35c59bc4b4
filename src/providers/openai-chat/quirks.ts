/**
 * Reads an account's quirks for Chat Completions services. An account chooses a set of quirks with
 * `quirks.profile` and can override each of them: `{ profile: 'groq', maxStops: 2 }`.
 *
 * If no quirks are set, the request of a Chat Completions client is forwarded as written, and a
 * request of another dialect is translated to the form that most services accept. Invalid values
 * are ignored here, so that no request fails because of them; the gateway reports them when it
 * starts.
 */
import { textOrEmpty, type JsonObject } from '../../core/json/json.ts'
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import type { Account } from '../provider-interface.ts'
import { choiceQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'
import { KNOWN_SERVICE_QUIRKS } from './known-service-quirks.ts'
import { CHAT_QUIRKS, type ChatQuirks } from './quirk-table.ts'

export const QUIRKS: QuirkTable = {
  profile: choiceQuirk(
    Object.keys(KNOWN_SERVICE_QUIRKS),
    'The quirks of a well-known service; single quirks override them.',
  ),
  ...CHAT_QUIRKS,
}

/** Parses an account's quirks once, because each request reads them several times. */
export function readChatQuirks({ quirks }: Account): ChatQuirks {
  return parseQuirksOnce(quirks)
}

const parseQuirksOnce = cachePerObject(parseQuirks)

function parseQuirks(quirks: JsonObject): ChatQuirks {
  const parsed: Record<string, unknown> = {
    ...KNOWN_SERVICE_QUIRKS[textOrEmpty(quirks['profile'])],
  }
  for (const [name, quirk] of Object.entries(CHAT_QUIRKS)) {
    const value = quirk.read(quirks[name])
    if (value !== undefined) parsed[name] = value
  }
  return parsed
}
