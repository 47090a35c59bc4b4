/**
 * Predicts how many tokens of a request the provider reads from its prompt cache: those before the first
 * difference to the previous request. Also names the cause of that difference.
 */
import { tryParseJsonObject, type JsonObject } from '../../core/json/json.ts'
import { createNoteDescriber, type DescribeNote } from '../describe-notes.ts'
import type { ExplainedRequest } from '../encode-and-decode-sent-request.ts'
import type { PreviousRequest } from '../load-previous-request.ts'
import { compareRequests, formatJsonPath } from './compare-requests.ts'
import type { DifferenceCause } from './difference-cause.ts'
import { findDifferenceCause } from './find-difference-cause.ts'
import { findJsonByteOffset } from './json-byte-offset.ts'

export interface CachePrediction extends JsonObject {
  readonly predicted_cached_tokens: number
  readonly cause: JsonObject & { readonly who: DifferenceCause['who'] }
}

/**
 * Predicts the cached tokens. Predicts 0 if the previous request is null (there is none) or undefined (it
 * is unknown).
 */
export function predictCacheHit(
  { summary, dispositions, body }: ExplainedRequest,
  previous: PreviousRequest | null | undefined,
  describe: DescribeNote = createNoteDescriber(summary),
): CachePrediction {
  if (previous === undefined) return { ...NO_PREFIX, cause: UNKNOWN_PREVIOUS }
  if (previous === null) return { ...NO_PREFIX, cause: FIRST_REQUEST }
  const request = {
    previous: previous.turnId,
    ...(previous.roundCount === 1 ? {} : { previous_round: previous.round }),
  }
  const noPrefix = { ...NO_PREFIX, ...request }
  const [before, now] = [tryParseJsonObject(previous.body), tryParseJsonObject(body)]
  if (before === null || now === null) return { ...noPrefix, cause: UNKNOWN_PREVIOUS }
  if (!isSameUpstream(previous.summary.upstream, summary.upstream))
    return { ...noPrefix, cause: OTHER_UPSTREAM }
  const comparison = compareRequests(before, now)
  const { differencePath, differenceOffset, equalPrefixBytes } = comparison
  const sameTokens = Math.ceil(comparison.equalPrefixTokens * (summary.correction ?? 1))
  const cause = findDifferenceCause({
    comparison,
    before: previous,
    now: { summary, dispositions },
    wire: summary.upstream.wire,
    describeNote: describe,
  })
  return {
    ...request,
    prefix: { bytes: equalPrefixBytes, estimated_tokens: sameTokens },
    predicted_cached_tokens: sameTokens < MIN_CACHED_TOKENS ? 0 : sameTokens,
    first_difference:
      differencePath === null
        ? null
        : {
            byte: findJsonByteOffset(body, differencePath, differenceOffset),
            path: formatJsonPath(differencePath),
          },
    cause: { ...cause },
  }
}

/** Minimum tokens of a cached prefix. Providers do not cache shorter prefixes. */
export const MIN_CACHED_TOKENS = 1024

const NO_PREFIX = {
  previous: null,
  prefix: { bytes: 0, estimated_tokens: 0 },
  predicted_cached_tokens: 0,
  first_difference: null,
}

const FIRST_REQUEST = { who: 'nobody', sentence: 'There is no previous request.' } as const
const UNKNOWN_PREVIOUS = {
  who: 'nobody',
  sentence: 'The previous request was not stored.',
} as const
const OTHER_UPSTREAM = {
  who: 'route',
  sentence: 'The previous request went to another upstream or model, which has its own cache.',
} as const

function isSameUpstream(before: JsonObject, now: JsonObject): boolean {
  return ['name', 'wire', 'model'].every((field) => before[field] === now[field])
}
