/**
 * Facts as the rest of the house sees them: sentences that are worth knowing in other conversations,
 * found by their words. Where texts are sealed, so are the words: their names say nothing.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { DerivedDataOrigin } from '../deletion/derived-data-origin.ts'

export interface FactStore {
  /** Resolves to `false` if there is one of the very same words, or its work has been forgotten. */
  readonly saveFact: (fact: StoredFact, work?: DerivedDataOrigin) => Promise<boolean>
  /** As it is to be from now on; nothing happens if it is gone meanwhile. */
  readonly replaceFact: (fact: StoredFact) => Promise<void>
  readonly findFact: (owner: Caller, id: string) => Promise<StoredFact | null>
  /** Those whose ids end like this: by that a model names one. */
  readonly factsEnding: (owner: Caller, ending: string) => Promise<readonly StoredFact[]>
  /** A page of all that its owner has, by id. */
  readonly listFacts: (owner: Caller, page: FactPage) => Promise<readonly StoredFact[]>
  /** Those that have most of the words, the rarer ones counting for more, in one round trip. */
  readonly searchFacts: (owner: Caller, search: FactSearch) => Promise<FoundFacts>
  /** Those that are told whatever is asked, the most important first. */
  readonly coreFacts: (owner: Caller, of: CoreFactSearch) => Promise<readonly StoredFact[]>
  /** Notes that they are needed still, of those of which nobody has said so in the last hour. */
  readonly touchFacts: (owner: Caller, ids: readonly string[], nowMs: number) => Promise<void>
  /** Resolves to whether there was one. */
  readonly deleteFact: (owner: Caller, id: string) => Promise<boolean>
  /** All that its owner has. Resolves to how many they were. */
  readonly deleteFacts: (owner: Caller) => Promise<number>
}

export interface StoredFact {
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  /** `user`, or the thread of the one conversation that it is for. */
  readonly scope: string
  readonly area: string
  readonly text: string
  /** From 0 to 1. */
  readonly importance: number
  readonly validUntilMs: number | null
  readonly createdAtMs: number
  /** When it was last told otherwise than before. */
  readonly changedAtMs: number
  readonly usedAtMs: number
  readonly useCount: number
  readonly source: FactSource | null
}

/** Where it was said, as far as that is known. */
export interface FactSource {
  readonly thread: string | null
  readonly response: string | null
  /** The items of the thread that it was taken from, up to but without the last. */
  readonly items: readonly [from: number, to: number] | null
}

export const USER_SCOPE = 'user'

/** It is told whatever is asked. */
export function isCoreFact({ area, importance }: Pick<StoredFact, 'area' | 'importance'>): boolean {
  return area === 'core' || importance >= CORE_IMPORTANCE
}

/** It does not fade, and is not forgotten for not being used. */
export const CORE_IMPORTANCE = 0.9

export interface FactPage {
  readonly after: string | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface FactSearch {
  readonly scopes: readonly string[]
  /** As `wordsOf` has them. */
  readonly words: readonly string[]
  readonly nowMs: number
  readonly limit: number
}

export interface FoundFacts {
  readonly facts: readonly StoredFact[]
  /** In how many of all facts a word stands. What there is more of is not counted to its end. */
  readonly countOf: (word: string) => number
  readonly total: number
}

export interface CoreFactSearch {
  readonly scopes: readonly string[]
  readonly nowMs: number
  readonly limit: number
}
