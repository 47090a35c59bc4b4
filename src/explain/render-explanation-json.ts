/**
 * Renders an explanation as JSON for the API: the sizes, the policy, and each item with its disposition and
 * the reasons as sentences. Adds two predictions: how many tokens of the request the provider has cached, and what
 * the request costs.
 */
import { tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import type { Note } from '../core/note.ts'
import type { ExplanationSummary, Explanation } from './build-explanation.ts'
import { predictCacheHit } from './cache-miss/predict-cache-hit.ts'
import { createNoteDescriber, type DescribeNote } from './describe-notes.ts'
import type { ExplainedRequest } from './encode-and-decode-sent-request.ts'
import type { ItemDisposition } from './item-dispositions.ts'
import { estimateRequestCost } from './request-cost.ts'
import type { PreviousRequest } from './load-previous-request.ts'

export interface ExplanationRenderOptions {
  /**
   * The previous request, for the prediction of cached tokens. Null at the start of a conversation,
   * undefined if unknown.
   */
  readonly previous: PreviousRequest | null | undefined
  /**
   * All notes in their original order. Undefined for a stored request, because its notes are stored with
   * their items.
   */
  readonly notes?: readonly Note[]
}

export function renderExplanation(
  sent: ExplainedRequest,
  { previous, notes = collectNotes(sent) }: ExplanationRenderOptions,
): JsonObject {
  const { summary, dispositions, body } = sent
  const describe = createNoteDescriber(summary)
  const cache = predictCacheHit(sent, previous, describe)
  const previousSummary = previous === undefined ? undefined : (previous?.summary ?? null)
  const { api, upstream, policy, counts, sent: size, fullReplay, parts, layers, window } = summary
  return {
    object: 'context.explanation',
    api,
    upstream: { ...upstream, body: tryParseJsonObject(body) ?? body },
    policy,
    items: { ...counts, list: dispositions.map((item) => renderItem(item, summary, describe)) },
    size: { sent: size, full_replay: fullReplay },
    parts,
    ...(layers === undefined ? {} : { layers }),
    window,
    cache,
    cost: estimateRequestCost(summary, cache, previousSummary),
    notes: notes.map((note) => ({ ...note, detail: describe(note) })),
  }
}

function renderItem(
  { notes = [], ...disposition }: ItemDisposition,
  { correction = 1 }: ExplanationSummary,
  describe: DescribeNote,
): JsonObject {
  const item = { ...disposition, tokens: Math.ceil(disposition.tokens * correction) }
  if (notes.length === 0) return item
  return { ...item, reasons: notes.map((note) => ({ ...note, sentence: describe(note) })) }
}

/** Lists the notes of the summary and of all items, each with the index of its item in `at`. */
function collectNotes({ summary, dispositions }: Explanation): readonly Note[] {
  const itemNotes = dispositions.flatMap(({ place, notes = [] }) =>
    notes.map((note) => ({ ...note, ...(place === null ? {} : { at: place }) })),
  )
  return [...summary.notes, ...itemNotes]
}
