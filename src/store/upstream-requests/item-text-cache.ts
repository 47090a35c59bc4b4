/**
 * The items that stand in front of an answer, as the texts of their rows, at hand for whoever keeps what
 * was sent for it: that holds the same words (`deduplicate-against-items.ts`). They are there from when the turn is
 * opened until its request is kept; of many at once some are not, and those are kept without them.
 */
import { createLruCache } from '../lru-cache.ts'

export interface ItemTextCache {
  /** By their position. */
  readonly remember: (tenant: string, turnId: string, texts: readonly string[]) => void
  /** None, if they are not at hand. They are not any more then. */
  readonly take: (tenant: string, turnId: string) => readonly string[]
}

export function createItemTextCache(): ItemTextCache {
  const lately = createLruCache<readonly string[]>(MAX_CHARS, charsIn)
  return {
    remember(tenant, turnId, texts) {
      if (charsIn(texts) >= MIN_DEDUPLICATED_CHARS) lately.put(nameOf(tenant, turnId), texts)
    },
    take: (tenant, turnId) => lately.take(nameOf(tenant, turnId)) ?? NONE,
  }
}

/** Where nobody keeps requests, nobody would ever take what is at hand. */
export const NO_ITEM_TEXTS: ItemTextCache = { remember: () => undefined, take: () => NONE }

/** Some dozen long requests at once. */
const MAX_CHARS = 8_000_000
/** To tell a short request from its items takes more than it saves. */
export const MIN_DEDUPLICATED_CHARS = 4_096
const NONE: readonly string[] = []

function nameOf(tenant: string, turnId: string): string {
  return `${turnId} ${tenant}`
}

function charsIn(texts: readonly string[]): number {
  let chars = 0
  for (const { length } of texts) chars += length
  return chars
}
