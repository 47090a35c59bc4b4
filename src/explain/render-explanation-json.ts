/**
 * Renders an explanation as JSON for the API: the sizes, the policy, and each item with its fate and the
 * reasons as sentences. Also predicts how much of the request the provider has cached.
 */
import { tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import type { Note } from '../core/note.ts'
import type { ExplanationSummary, Explanation } from './build-explanation.ts'
import { predictCacheHit } from './cache-miss/predict-cache-hit.ts'
import { createNoteDescriber, type DescribeNote } from './describe-notes.ts'
import type { ExplainedRequest } from './encode-and-decode-sent-request.ts'
import type { ItemDisposition } from './item-dispositions.ts'
import type { PreviousRequest } from './load-previous-request.ts'

export interface ExplanationContext {
  /** Request to compare with; null at the start of a conversation, undefined if it is unknown. */
  readonly previous: PreviousRequest | null | undefined
  /** All notes in their original order; undefined for a stored request, whose notes are per item. */
  readonly notes?: readonly Note[]
}

export function renderExplanation(
  sent: ExplainedRequest,
  { previous, notes = collectNotes(sent) }: ExplanationContext,
): JsonObject {
  const { summary, dispositions, body } = sent
  const describe = createNoteDescriber(summary)
  const { api, upstream, policy, counts, sent: size, fullReplay, parts, layers, window } = summary
  return {
    object: 'context.explanation',
    api,
    upstream: { ...upstream, body: tryParseJsonObject(body) ?? body },
    policy,
    items: { ...counts, list: dispositions.map((fate) => renderItem(fate, summary, describe)) },
    size: { sent: size, full_replay: fullReplay },
    parts,
    ...(layers === undefined ? {} : { layers }),
    window,
    cache: predictCacheHit(sent, previous, describe),
    notes: notes.map((note) => ({ ...note, detail: describe(note) })),
  }
}

function renderItem(
  { notes = [], ...fate }: ItemDisposition,
  { correction = 1 }: ExplanationSummary,
  describe: DescribeNote,
): JsonObject {
  const item = { ...fate, tokens: Math.ceil(fate.tokens * correction) }
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
