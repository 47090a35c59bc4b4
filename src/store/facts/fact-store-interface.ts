/**
 * Interface of the store of facts: sentences that are useful in other conversations. A search finds
 * facts by their words. If texts are encrypted, the words are hashed with the same keys.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { DerivedDataSource } from '../deletion/expiry-and-deletion-store-interface.ts'
import type { UndecryptableRule } from '../encryption/decrypt-rows.ts'

export interface FactStore {
  /**
   * Stores a fact. Resolves to `false` if the owner has a fact with the same scope and exactly the
   * same words, or if `derivedFrom` was deleted.
   */
  readonly saveFact: (fact: StoredFact, derivedFrom?: DerivedDataSource) => Promise<boolean>
  /**
   * Replaces a fact. Does nothing if it was deleted in the meantime, or if another fact of the same
   * scope has the new words.
   */
  readonly replaceFact: (fact: StoredFact) => Promise<void>
  /** This and `listFacts` fail if a fact cannot be decrypted; other reads leave it out. */
  readonly findFact: (owner: Caller, id: string) => Promise<StoredFact | null>
  /**
   * Returns facts whose id ends with `ending`, at most two: models refer to a fact by the ending of
   * its id, and two results mean that the ending is ambiguous.
   */
  readonly findFactsByIdEnding: (owner: Caller, ending: string) => Promise<readonly StoredFact[]>
  /** Returns a page of the owner's facts, ordered by id. */
  readonly listFacts: (owner: Caller, page: FactPage) => Promise<readonly StoredFact[]>
  /**
   * Returns the facts whose words match the search best, in one round trip. Rare words count more
   * than frequent ones.
   */
  readonly searchFacts: (owner: Caller, search: FactSearch) => Promise<FoundFacts>
  /** Returns the facts that every prompt includes, the most important first. */
  readonly listCoreFacts: (owner: Caller, search: CoreFactSearch) => Promise<readonly StoredFact[]>
  /** Sets the time of last use, at most once an hour for each fact. */
  readonly touchFacts: (owner: Caller, ids: readonly string[], nowMs: number) => Promise<void>
  /** Resolves to `false` if the owner has no such fact. */
  readonly deleteFact: (owner: Caller, id: string) => Promise<boolean>
  /** Deletes all facts of the owner. Resolves to the number of deleted facts. */
  readonly deleteFacts: (owner: Caller) => Promise<number>
}

export interface StoredFact {
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  /**
   * `user` for a fact that applies to all conversations, or the id of the only thread to which it
   * applies.
   */
  readonly scope: string
  readonly area: string
  readonly text: string
  /** From 0 to 1. */
  readonly importance: number
  readonly validUntilMs: number | null
  readonly createdAtMs: number
  /** Time of the last change of the text. */
  readonly changedAtMs: number
  readonly usedAtMs: number
  readonly useCount: number
  readonly source: FactSource | null
}

/** The conversation that the fact was derived from; fields are null if unknown. */
export interface FactSource {
  readonly thread: string | null
  readonly response: string | null
  /** Positions of the source items in the thread, e.g. `[4, 6]` for items 4 and 5. */
  readonly items: readonly [from: number, to: number] | null
}

export const USER_SCOPE = 'user'

/** True if every prompt includes the fact. */
export function isCoreFact({ area, importance }: Pick<StoredFact, 'area' | 'importance'>): boolean {
  return area === 'core' || importance >= CORE_IMPORTANCE
}

/**
 * A fact of this importance or higher is part of every prompt and does not expire when it is not
 * used.
 */
export const CORE_IMPORTANCE = 0.9

export interface FactPage {
  readonly after: string | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface FactSearch {
  readonly scopes: readonly string[]
  /** Search terms, as `extractSearchTerms` returns them. */
  readonly words: readonly string[]
  readonly nowMs: number
  readonly limit: number
  /** Default: facts that cannot be decrypted are left out. */
  readonly rule?: UndecryptableRule
}

export interface FoundFacts {
  readonly facts: readonly StoredFact[]
  /** Returns the number of facts that contain a word, counted up to 200. */
  readonly countFactsWith: (word: string) => number
  /** Number of facts in the scopes of the search, counted up to 200. */
  readonly factCount: number
}

export interface CoreFactSearch {
  readonly scopes: readonly string[]
  readonly nowMs: number
  readonly limit: number
}
