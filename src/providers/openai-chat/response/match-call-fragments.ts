/**
 * Assigns streamed fragments to tool calls. Depending on the service, a fragment identifies its
 * call by index, by id, by both or not at all.
 */
import { type JsonObject, tryParseJsonObject } from '../../../core/json/json.ts'
import type { ToolCallFragment } from '../api-types.ts'
import {
  parseCallFragment,
  type ParsedCallFragment,
  createToolCallBuilder,
  type ToolCallOptions,
  type ToolCallBuilder,
} from './tool-call-builder.ts'

export interface CallFragmentMatcher {
  readonly addFragment: (fragment: ToolCallFragment) => void
  readonly count: () => number
  /** Returns true if a call never got a name, so no client can run it. */
  readonly hasNameless: () => boolean
  /**
   * Ends the calls. `messageFields` belong to the complete message; they are stored with the first
   * call.
   */
  readonly end: (isComplete: boolean, messageFields: JsonObject | undefined) => void
}

export function createCallFragmentMatcher(options: ToolCallOptions): CallFragmentMatcher {
  const calls: ToolCallBuilder[] = []
  return {
    addFragment(rawFragment) {
      const fragment = parseCallFragment(rawFragment)
      let call = findCall(calls, fragment)
      if (call === undefined) calls.push((call = createToolCallBuilder(fragment, options)))
      call.addFragment(fragment)
    },
    count: () => calls.length,
    hasNameless: () => calls.some((call) => call.name() === ''),
    end(isComplete, messageFields) {
      for (const [index, call] of calls.entries()) {
        call.end(isComplete, index === 0 ? messageFields : undefined)
      }
    },
  }
}

/** Returns the call that a fragment continues; undefined if the fragment begins a new call. */
function findCall(
  calls: readonly ToolCallBuilder[],
  fragment: ParsedCallFragment,
): ToolCallBuilder | undefined {
  const { index, id } = fragment
  const call =
    index !== null
      ? calls.findLast((candidate) => candidate.upstreamIndex === index)
      : id !== ''
        ? calls.find((candidate) => candidate.upstreamId === id)
        : calls.at(-1)
  return call === undefined || startsNewCall(call, fragment) ? undefined : call
}

/**
 * True if a fragment begins a new call although an earlier call has its index, e.g. because a
 * service sends index 0 for every call.
 */
function startsNewCall(
  call: ToolCallBuilder,
  { id, name, inputText }: ParsedCallFragment,
): boolean {
  // Does not compare names, because some services repeat the name in every fragment of a call.
  if (name === '' || call.name() === '') return false
  if (id !== '' && call.upstreamId !== '') return id !== call.upstreamId
  return inputText.startsWith('{') && tryParseJsonObject(call.inputText()) !== null
}
