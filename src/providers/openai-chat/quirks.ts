/**
 * Reads the quirks of an account. `quirks.profile` chooses the quirks of a well-known service, and
 * other quirks override them: `{ profile: 'groq', maxStops: 2 }`. Invalid values are ignored here;
 * the gateway reports them when it starts.
 */
import { textOrEmpty, type JsonObject } from '../../core/json/json.ts'
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import type { Account } from '../provider-interface.ts'
import { choiceQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'
import { SERVICE_QUIRK_PROFILES } from './service-quirk-profiles.ts'
import { CHAT_QUIRKS, type ChatQuirks } from './quirk-table.ts'

export const QUIRKS: QuirkTable = {
  profile: choiceQuirk(
    Object.keys(SERVICE_QUIRK_PROFILES),
    'The quirks of a well-known service; single quirks override them.',
  ),
  ...CHAT_QUIRKS,
}

/**
 * Returns an account's quirks. Parses them only once, because each request reads them several
 * times.
 */
export function readChatQuirks({ quirks }: Account): ChatQuirks {
  return parseQuirksOnce(quirks)
}

const parseQuirksOnce = cachePerObject(parseQuirks)

function parseQuirks(quirks: JsonObject): ChatQuirks {
  const parsed: Record<string, unknown> = {
    ...SERVICE_QUIRK_PROFILES[textOrEmpty(quirks['profile'])],
  }
  for (const [name, quirk] of Object.entries(CHAT_QUIRKS)) {
    const value = quirk.parse(quirks[name])
    if (value !== undefined) parsed[name] = value
  }
  return parsed
}
