/**
 * Saves a fact without storing it twice. If a stored fact of the same scope has at least 85 % of
 * its search terms in common with the new one, the new text replaces the stored text under the same
 * id. If all terms are equal, the stored text stays, so that the rendered prompt stays the same.
 */
import { measureTermOverlap, extractSearchTerms } from '../../core/text/search-terms.ts'
import {
  isCoreFact,
  USER_SCOPE,
  type FactSource,
  type FactStore,
  type StoredFact,
} from '../../store/facts/fact-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { DerivedDataSource } from '../../store/deletion/expiry-and-deletion-store-interface.ts'
import type { LayerPorts } from '../memory-layer-interface.ts'

/**
 * A fact to save. `null` as the area, the importance or the end date keeps the value of a similar
 * stored fact, or stands for the default if there is none.
 */
export interface FactInput {
  readonly text: string
  readonly scope: string
  readonly area: string | null
  readonly importance: number | null
  readonly validUntilMs: number | null
  readonly source: FactSource | null
}

export type FactSaveDependencies = Pick<LayerPorts, 'facts' | 'nowMs' | 'newTurnId'>

export const FACT_CHAR_LIMITS = { min: 10, max: 500 }
export const MAX_FACT_AREA_CHARS = 64

/** True if the text contains at least one search term, so that a search can find it. */
export function hasSearchTerms(text: string): boolean {
  return extractSearchTerms(text, 1).length > 0
}

export async function saveFact(
  input: FactInput,
  { tenant, user }: Caller,
  ports: FactSaveDependencies,
  origin?: DerivedDataSource,
): Promise<StoredFact> {
  const owner = { tenant, user }
  const terms = extractSearchTerms(input.text)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const stored = await findSimilarFact(terms, input.scope, owner, ports.facts)
    if (stored !== null) {
      const renewed = mergeFact(input, stored, ports.nowMs())
      await ports.facts.replaceFact(renewed)
      return renewed
    }
    const fact = createFact(input, owner, ports)
    // The store returns false if it refuses the fact. If another request saved the same fact at the
    // same moment, the next attempt finds that fact.
    if (await ports.facts.saveFact(fact, origin)) return fact
  }
  // All attempts were refused, but no similar fact was found: the conversation was deleted in the
  // meantime.
  throw new Error('The conversation that the fact belongs to was deleted.')
}

const MAX_ATTEMPTS = 3

/**
 * Two texts count as the same fact if they share at least this part of all their search terms, e.g.
 * 9 of 10.
 */
const MIN_SIMILARITY = 0.85

async function findSimilarFact(
  terms: readonly string[],
  scope: string,
  owner: Caller,
  facts: FactStore,
): Promise<StoredFact | null> {
  // With `nowMs: 0`, the search also finds expired facts that are still stored, so that saving one
  // of them again renews it.
  const search = { scopes: [scope], words: terms, nowMs: 0, limit: MAX_CANDIDATES }
  const found = await facts.searchFacts(owner, search)
  let [closest, highest]: [StoredFact | null, number] = [null, MIN_SIMILARITY]
  for (const fact of found.facts) {
    const similarity = measureTermOverlap(extractSearchTerms(fact.text), terms)
    if (similarity < highest || (closest !== null && similarity === highest)) continue
    closest = fact
    highest = similarity
  }
  return closest
}

const MAX_CANDIDATES = 24

function createFact(
  input: FactInput,
  { tenant, user }: Caller,
  ports: FactSaveDependencies,
): StoredFact {
  const now = ports.nowMs()
  return {
    ...input,
    id: `fact_${ports.newTurnId()}`,
    tenant,
    user,
    area: input.area ?? 'general',
    importance: input.importance ?? DEFAULT_IMPORTANCE,
    createdAtMs: now,
    changedAtMs: now,
    usedAtMs: now,
    useCount: 0,
  }
}

const DEFAULT_IMPORTANCE = 0.5

/**
 * Returns the stored fact with the values of the input; where the input has `null`, the stored
 * value stays. If the stored fact has expired and the input has no end date, the fact becomes
 * permanent.
 */
function mergeFact(input: FactInput, stored: StoredFact, now: number): StoredFact {
  const isSame =
    measureTermOverlap(extractSearchTerms(stored.text), extractSearchTerms(input.text)) === 1
  const isExpired = stored.validUntilMs !== null && stored.validUntilMs <= now
  const renewed = {
    ...stored,
    text: isSame ? stored.text : input.text,
    area: input.area ?? stored.area,
    importance: input.importance ?? stored.importance,
    validUntilMs: input.validUntilMs ?? (isExpired ? null : stored.validUntilMs),
    usedAtMs: Math.max(now, stored.usedAtMs),
    source: isSame ? stored.source : input.source,
  }
  const isRenderedSame = isSame && !isExpired && isCoreFact(renewed) === isCoreFact(stored)
  return isRenderedSame ? renewed : { ...renewed, changedAtMs: now }
}

/**
 * Returns the scope in which a fact is stored: the user's if it is requested and the user is known;
 * else the conversation's, which is `null` if the conversation is not stored.
 */
export function resolveFactScope(
  { user }: Caller,
  requestedScope: 'conversation' | 'user',
  thread: string | null,
): string | null {
  return requestedScope === 'user' && user !== null ? USER_SCOPE : thread
}
