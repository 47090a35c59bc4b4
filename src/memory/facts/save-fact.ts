/**
 * Saves a fact. If a stored fact has nearly the same terms, the new text replaces it under the same
 * id. If all terms are equal, the stored text stays and only its time of use changes, so the
 * rendered prompt stays the same.
 */
import { compareTerms, extractSearchTerms } from '../../core/text/search-terms.ts'
import {
  isCoreFact,
  USER_SCOPE,
  type FactSource,
  type FactStore,
  type StoredFact,
} from '../../store/facts/fact-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { DerivedDataOrigin } from '../../store/deletion/derived-data-origin.ts'
import type { LayerPorts } from '../memory-layer-interface.ts'

/** The fields of a fact to save; `null` keeps the stored value or uses the default. */
export interface FactInput {
  readonly text: string
  readonly scope: string
  readonly area: string | null
  readonly importance: number | null
  readonly validUntilMs: number | null
  readonly source: FactSource | null
}

export type FactSaveDependencies = Pick<LayerPorts, 'facts' | 'nowMs' | 'newTurnId'>

export const FACT_CHAR_LIMITS = { least: 10, most: 500 }
export const MAX_AREA_CHARS = 64

/** True if a search can find the text, i.e. if it contains at least one term. */
export function hasSearchTerms(text: string): boolean {
  return extractSearchTerms(text, 1).length > 0
}

export async function saveFact(
  said: FactInput,
  { tenant, user }: Caller,
  ports: FactSaveDependencies,
  work?: DerivedDataOrigin,
): Promise<StoredFact> {
  const owner = { tenant, user }
  const words = extractSearchTerms(said.text)
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const known = await knownAs(words, said.scope, owner, ports.facts)
    if (known !== null) {
      const renewed = renewedBy(said, known, ports.nowMs())
      await ports.facts.replaceFact(renewed)
      return renewed
    }
    const fact = newFact(said, owner, ports)
    // Returns false if another request saved the same fact at the same moment; the next attempt
    // finds it.
    if (await ports.facts.saveFact(fact, work)) return fact
  }
  // The store refuses facts of a conversation that was deleted meanwhile.
  throw new Error('What it belongs to has been forgotten.')
}

const ATTEMPTS = 3

/** Two texts with this share of common terms count as the same fact. */
const ALIKE = 0.85

async function knownAs(
  words: readonly string[],
  scope: string,
  owner: Caller,
  facts: FactStore,
): Promise<StoredFact | null> {
  // `nowMs: 0` also finds expired facts, which are stored until they are removed.
  const search = { scopes: [scope], words, nowMs: 0, limit: CANDIDATES }
  const found = await facts.searchFacts(owner, search)
  let [closest, most]: [StoredFact | null, number] = [null, ALIKE]
  for (const fact of found.facts) {
    const alike = compareTerms(extractSearchTerms(fact.text), words)
    if (alike < most || (closest !== null && alike === most)) continue
    closest = fact
    most = alike
  }
  return closest
}

const CANDIDATES = 24

function newFact(
  said: FactInput,
  { tenant, user }: Caller,
  ports: FactSaveDependencies,
): StoredFact {
  const now = ports.nowMs()
  return {
    id: `fact_${ports.newTurnId()}`,
    tenant,
    user,
    scope: said.scope,
    area: said.area ?? 'general',
    text: said.text,
    importance: said.importance ?? USUAL_IMPORTANCE,
    validUntilMs: said.validUntilMs,
    createdAtMs: now,
    changedAtMs: now,
    usedAtMs: now,
    useCount: 0,
    source: said.source,
  }
}

const USUAL_IMPORTANCE = 0.5

/**
 * Merges the input into a stored fact. An expired fact without a new end date becomes permanent.
 */
function renewedBy(said: FactInput, known: StoredFact, now: number): StoredFact {
  const isSame = compareTerms(extractSearchTerms(known.text), extractSearchTerms(said.text)) === 1
  const ranOut = known.validUntilMs !== null && known.validUntilMs <= now
  const renewed = {
    ...known,
    text: isSame ? known.text : said.text,
    area: said.area ?? known.area,
    importance: said.importance ?? known.importance,
    validUntilMs: said.validUntilMs ?? (ranOut ? null : known.validUntilMs),
    usedAtMs: Math.max(now, known.usedAtMs),
    source: isSame ? known.source : said.source,
  }
  const isToldAlike = isSame && !ranOut && isCoreFact(renewed) === isCoreFact(known)
  return isToldAlike ? renewed : { ...renewed, changedAtMs: now }
}

/**
 * Returns the user's scope if it is requested and a user is known, else the conversation's scope.
 */
export function resolveFactScope(
  { user }: Caller,
  wanted: 'conversation' | 'user',
  thread: string | null,
): string | null {
  return wanted === 'user' && user !== null ? USER_SCOPE : thread
}
