/**
 * Renders an explanation as JSON for the API: each reason as a sentence, the number of tokens that the
 * provider has probably cached, and the cause of the first difference to the previous request.
 */
import { isObject, tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import type { Note } from '../core/note.ts'
import type { WireName } from '../providers/provider-interface.ts'
import { PROVIDERS } from '../providers/registry.ts'
import type { SentRequest } from '../store/upstream-requests/upstream-request-store-interface.ts'
import { describeNote } from '../gateway/prompt/reject-unsupported-features.ts'
import { findJsonByteOffset } from './cache-miss/json-byte-offset.ts'
import { findDifferenceCause } from './cache-miss/find-difference-cause.ts'
import type { DescribeNote } from './cache-miss/difference-cause.ts'
import { compareRequests, formatJsonPath } from './cache-miss/compare-requests.ts'
import type { ExplanationSummary, Explanation, RequestFacts } from './build-explanation.ts'
import type { ItemDisposition } from './item-dispositions.ts'
import { explainUnchangedRequest } from './explain-unchanged-request.ts'

/** The body of a request and its explanation. */
export interface ExplainedRequest extends Explanation {
  readonly body: string
}

/** One of the requests that were sent for a previous answer. */
export interface PreviousRequest extends ExplainedRequest {
  readonly id: string
  readonly round: number
  readonly rounds: number
}

export interface ExplanationContext {
  /** The previous request; null at the start of a conversation, undefined if unknown. */
  readonly previous: PreviousRequest | null | undefined
  /** All notes in their original order, if known. */
  readonly notes?: readonly Note[]
}

export function renderExplanation(
  sent: ExplainedRequest,
  { previous, notes = collectNotes(sent) }: ExplanationContext,
): JsonObject {
  const { about, fates, body } = sent
  const describe = createNoteDescriber(about)
  const { api, upstream, policy, counts, sent: size, fullReplay, parts, layers, window } = about
  return {
    object: 'context.explanation',
    api,
    upstream: { ...upstream, body: tryParseJsonObject(body) ?? body },
    policy,
    items: { ...counts, list: fates.map((fate) => renderItem(fate, about, describe)) },
    size: { sent: size, full_replay: fullReplay },
    parts,
    ...(layers === undefined ? {} : { layers }),
    window,
    cache: predictCacheHit(sent, previous, describe),
    notes: notes.map((note) => ({ ...note, detail: describe(note) })),
  }
}

function createNoteDescriber({ upstream: { wire } }: ExplanationSummary): DescribeNote {
  const provider = PROVIDERS[wire as WireName]
  return (note) => describeNote(note, { provider }) ?? note.why
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

/** Collects all notes, each with the index of its item. */
function collectNotes({ about, fates }: Explanation): readonly Note[] {
  const ofItems = fates.flatMap(({ place, notes = [] }) =>
    notes.map((note) => ({ ...note, ...(place === null ? {} : { at: place }) })),
  )
  return [...about.notes, ...ofItems]
}

export interface CachePrediction extends JsonObject {
  readonly predicted_cached_tokens: number
}

export function predictCacheHit(
  { about, fates, body }: ExplainedRequest,
  previous: ExplanationContext['previous'],
  describe: DescribeNote = createNoteDescriber(about),
): CachePrediction {
  if (previous === undefined) return { ...NO_PREFIX, cause: UNKNOWN_PREVIOUS }
  if (previous === null) return { ...NO_PREFIX, cause: FIRST_REQUEST }
  const request = {
    previous: previous.id,
    ...(previous.rounds === 1 ? {} : { previous_round: previous.round }),
  }
  const noPrefix = { ...NO_PREFIX, ...request }
  const [before, now] = [tryParseJsonObject(previous.body), tryParseJsonObject(body)]
  if (before === null || now === null) return { ...noPrefix, cause: UNKNOWN_PREVIOUS }
  if (!isSameUpstream(previous.about.upstream, about.upstream))
    return { ...noPrefix, cause: OTHER_UPSTREAM }
  const comparison = compareRequests(before, now)
  const { path, offset, sameBytes } = comparison
  const sameTokens = Math.ceil(comparison.sameTokens * (about.correction ?? 1))
  const cause = findDifferenceCause({
    comparison,
    before: previous,
    now: { about, fates },
    wire: about.upstream.wire,
    sentenceOf: describe,
  })
  return {
    ...request,
    prefix: { bytes: sameBytes, estimated_tokens: sameTokens },
    predicted_cached_tokens: sameTokens < MIN_CACHED_TOKENS ? 0 : sameTokens,
    first_difference:
      path === null
        ? null
        : { byte: findJsonByteOffset(body, path, offset), path: formatJsonPath(path) },
    cause: { ...cause },
  }
}

/** Min tokens of a cached prefix: no provider caches a shorter one. */
const MIN_CACHED_TOKENS = 1024

const NO_PREFIX = {
  previous: null,
  prefix: { bytes: 0, estimated_tokens: 0 },
  predicted_cached_tokens: 0,
  first_difference: null,
}

const FIRST_REQUEST = { who: 'nobody', sentence: 'There is no previous request.' }
const UNKNOWN_PREVIOUS = { who: 'nobody', sentence: 'The previous request was not stored.' }
const OTHER_UPSTREAM = {
  who: 'route',
  sentence: 'The previous request went to another upstream or model, which has its own cache.',
}

function isSameUpstream(before: JsonObject, now: JsonObject): boolean {
  return ['name', 'wire', 'model'].every((field) => before[field] === now[field])
}

/** Decodes a stored request; null if it cannot be read. */
export function decodeSentRequest({
  body,
  items,
  about: aboutJson,
}: SentRequest): ExplainedRequest | null {
  const about = tryParseJsonObject(aboutJson)
  if (about === null || !isObject(about['upstream'])) return null
  const explanation =
    items === UNCHANGED_REQUEST
      ? explainUnchangedRequest(about as RequestFacts, body)
      : {
          about: about as ExplanationSummary,
          fates: JSON.parse(items) as readonly ItemDisposition[],
        }
  return explanation === null ? null : { ...explanation, body }
}

/**
 * Serializes dispositions for the store. The text of the next turn begins with the same dispositions,
 * so the store saves only the difference.
 */
export function encodeDispositions(fates: readonly ItemDisposition[]): string {
  return JSON.stringify(fates)
}

/** Value that is stored instead of dispositions if every item was sent unchanged. */
export const UNCHANGED_REQUEST = ''
