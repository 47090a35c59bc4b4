/**
 * Finds the summary that stands for the beginning of a conversation: of all that there are the one that
 * stands for most. So there is never a second one at work, whoever made how many of them.
 *
 * A turn that is at work with tools goes on behind the beginning that it was begun behind: a summary
 * that was made since then is told from the next question on, where it is remembered when that was.
 *
 * A memory that does not answer, or not in time, costs nothing but itself: all is sent as it was said.
 */
import { listCoveredItems } from '../../context/summaries/apply-summary.ts'
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import type { StoredSummary } from '../../store/summaries/summary-store-interface.ts'
import type { ActiveSummary } from '../history/loaded-history.ts'
import { hashSummaryPrefixes, type SummaryPrefix } from './hash-summary-prefixes.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface SummaryLookup {
  readonly summary: ActiveSummary | null
  /** The one that stands for most, if it is not told yet. */
  readonly nextSummary?: ActiveSummary
}

/** `sinceMs`: when the first answer to the newest question was begun; `null` if there is none. */
export async function loadSummary(
  told: SummarizableItems,
  sinceMs: number | null,
  owner: Caller,
  world: Ports<'summaries' | 'log'>,
): Promise<SummaryLookup> {
  const borders = hashSummaryPrefixes(told)
  if (borders.length === 0) return NONE
  try {
    const found = await waitWithTimeout(
      findSummaries(told, borders, owner, world, ENOUGH),
      PATIENCE_MS,
    )
    if (found !== TIMED_OUT) return atItsTime(found, sinceMs)
    world.log('warn', 'summary-not-loaded', { why: 'It took too long.' })
  } catch (error) {
    world.log('warn', 'summary-not-loaded', { why: errorMessage(error) })
  }
  return NONE
}

const NONE: SummaryLookup = { summary: null }

function atItsTime(found: readonly ActiveSummary[], sinceMs: number | null): SummaryLookup {
  const [longest] = found
  if (longest === undefined) return NONE
  const wasThere = ({ stored }: ActiveSummary) => sinceMs === null || stored.createdAtMs <= sinceMs
  const summary = found.find(wasThere) ?? null
  return summary === longest ? { summary } : { summary, nextSummary: longest }
}

/** Throws when the database does not answer. */
export async function findSummary(
  told: SummarizableItems,
  borders: readonly SummaryPrefix[],
  owner: Caller,
  world: Ports<'summaries'>,
): Promise<ActiveSummary | null> {
  const [longest] = await findSummaries(told, borders, owner, world, ENOUGH)
  return longest ?? null
}

/** One that cannot be read is not there, and the one before it stands for nearly as much. */
const ENOUGH = 3

/** Of all that there are so many, the one that stands for most first. */
export async function findSummaries(
  told: SummarizableItems,
  borders: readonly SummaryPrefix[],
  { tenant, user }: Caller,
  { summaries }: Ports<'summaries'>,
  limit: number,
): Promise<readonly ActiveSummary[]> {
  const hashes = borders.slice(-MAX_BORDERS).map(({ hash }) => hash)
  const found = await summaries.findSummaries({ tenant, user }, hashes, limit)
  return found.flatMap((stored) => {
    const border = borders.findLast(({ hash }) => hash === stored.prefixHash)
    return border === undefined ? [] : [buildActiveSummary(told, border, stored)]
  })
}

export function buildActiveSummary(
  told: SummarizableItems,
  border: SummaryPrefix,
  stored: StoredSummary,
): ActiveSummary {
  const { id, text, facts } = stored
  const { items, hidden } = told
  return { id, text, facts, border, stored, hidden, covered: listCoveredItems(items, border.at) }
}

/** A user waits for the first word that long at most on account of a database. */
const PATIENCE_MS = 1500

/** A summary that stands for less than all but so many turns is as good as none. */
const MAX_BORDERS = 2_000
