/**
 * An explanation as its reader gets it: every reason in words, with what of the request was probably
 * in the provider's cache, and why no more of it.
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

/** A request as it was sent, with what is known of it. */
export interface ExplainedRequest extends Explanation {
  readonly body: string
}

/** Among those that were sent for an answer. */
export interface PreviousRequest extends ExplainedRequest {
  readonly id: string
  readonly round: number
  readonly rounds: number
}

export interface ExplanationContext {
  /** The request before it; `null` at the start of a conversation, `undefined` if nobody knows. */
  readonly previous: PreviousRequest | null | undefined
  /** All of them in their order, where that is known. */
  readonly notes?: readonly Note[]
}

export function renderExplanation(
  sent: ExplainedRequest,
  { previous, notes = notesIn(sent) }: ExplanationContext,
): JsonObject {
  const { about, fates, body } = sent
  const inWords = sentencesOf(about)
  const { api, upstream, policy, counts, sent: size, fullReplay, parts, layers, window } = about
  return {
    object: 'context.explanation',
    api,
    upstream: { ...upstream, body: tryParseJsonObject(body) ?? body },
    policy,
    items: { ...counts, list: fates.map((fate) => itemTold(fate, about, inWords)) },
    size: { sent: size, full_replay: fullReplay },
    parts,
    ...(layers === undefined ? {} : { layers }),
    window,
    cache: predictCacheHit(sent, previous, inWords),
    notes: notes.map((note) => ({ ...note, detail: inWords(note) })),
  }
}

function sentencesOf({ upstream: { wire } }: ExplanationSummary): DescribeNote {
  const provider = PROVIDERS[wire as WireName]
  return (note) => describeNote(note, { provider }) ?? note.why
}

function itemTold(
  { notes = [], ...fate }: ItemDisposition,
  { correction = 1 }: ExplanationSummary,
  inWords: DescribeNote,
): JsonObject {
  const item = { ...fate, tokens: Math.ceil(fate.tokens * correction) }
  if (notes.length === 0) return item
  return { ...item, reasons: notes.map((note) => ({ ...note, sentence: inWords(note) })) }
}

/** All of them, each with its place. */
function notesIn({ about, fates }: Explanation): readonly Note[] {
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
  inWords: DescribeNote = sentencesOf(about),
): CachePrediction {
  if (previous === undefined) return { ...NOTHING, cause: UNKNOWN }
  if (previous === null) return { ...NOTHING, cause: FIRST }
  const which = {
    previous: previous.id,
    ...(previous.rounds === 1 ? {} : { previous_round: previous.round }),
  }
  const against = { ...NOTHING, ...which }
  const [before, own] = [tryParseJsonObject(previous.body), tryParseJsonObject(body)]
  if (before === null || own === null) return { ...against, cause: UNKNOWN }
  if (!isSamePlace(previous.about.upstream, about.upstream)) return { ...against, cause: ELSEWHERE }
  const comparison = compareRequests(before, own)
  const { path, offset, sameBytes } = comparison
  const sameTokens = Math.ceil(comparison.sameTokens * (about.correction ?? 1))
  const now = { about, fates }
  const cause = findDifferenceCause({
    comparison,
    before: previous,
    now,
    wire: about.upstream.wire,
    sentenceOf: inWords,
  })
  return {
    ...which,
    prefix: { bytes: sameBytes, estimated_tokens: sameTokens },
    predicted_cached_tokens: sameTokens < LEAST_CACHED ? 0 : sameTokens,
    first_difference:
      path === null
        ? null
        : { byte: findJsonByteOffset(body, path, offset), path: formatJsonPath(path) },
    cause: { ...cause },
  }
}

/** No provider keeps less. */
const LEAST_CACHED = 1024

const NOTHING = {
  previous: null,
  prefix: { bytes: 0, estimated_tokens: 0 },
  predicted_cached_tokens: 0,
  first_difference: null,
}

const FIRST = { who: 'nobody', sentence: 'There is no request before it.' }
const UNKNOWN = { who: 'nobody', sentence: 'The request before it was not kept.' }
const ELSEWHERE = {
  who: 'route',
  sentence:
    'The request before it went to another upstream or model, which has a cache of its own.',
}

function isSamePlace(before: JsonObject, now: JsonObject): boolean {
  return ['name', 'wire', 'model'].every((field) => before[field] === now[field])
}

/** Of what is kept, what cannot be read is nothing. */
export function decodeSentRequest({
  body,
  items,
  about: written,
}: SentRequest): ExplainedRequest | null {
  const about = tryParseJsonObject(written)
  if (about === null || !isObject(about['upstream'])) return null
  const told =
    items === UNCHANGED_REQUEST
      ? explainUnchangedRequest(about as RequestFacts, body)
      : {
          about: about as ExplanationSummary,
          fates: JSON.parse(items) as readonly ItemDisposition[],
        }
  return told === null ? null : { ...told, body }
}

/** Those of the next turn begin with the same characters, and only what is behind them is kept again. */
export function encodeDispositions(fates: readonly ItemDisposition[]): string {
  return JSON.stringify(fates)
}

/** Instead of what became of its items. */
export const UNCHANGED_REQUEST = ''
