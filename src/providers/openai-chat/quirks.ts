/**
 * Reads an account's quirks for Chat Completions services. An account picks a set with
 * `quirks.profile` and overrides single ones: `{ profile: 'groq', maxStops: 2 }`.
 *
 * Without a quirk, the request of a Chat Completions client is forwarded as the client wrote it, and a
 * translated request takes the form that most services accept. Invalid values are ignored here, so
 * that no request fails on them; the settings report them at start.
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
