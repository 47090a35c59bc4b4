/**
 * Assigns the fragments of a stream to tool calls. A fragment identifies its call by index, by id,
 * by both or by neither, depending on the service.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import { tryParseJsonObject } from '../../../core/json/json.ts'
import { parseCallFragment, type ParsedCallFragment } from './parse-call-fragment.ts'
import {
  createToolCallBuilder,
  type ToolCallOptions,
  type ToolCallBuilder,
} from './tool-call-builder.ts'
import type { ToolCallFragment } from '../api-types.ts'

export interface CallFragmentMatcher {
  readonly addFragment: (fragment: ToolCallFragment) => void
  readonly count: () => number
  /** Returns true if a call has no name, so that no client can run it. */
  readonly hasNameless: () => boolean
  /**
   * Ends the calls. `messageFields` belong to the complete message and are stored with its first
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

/** Returns the call that a fragment continues, or undefined if the fragment starts a new one. */
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
 * True if a fragment begins a new call although its index was used before, e.g. because a service
 * always sends index 0.
 */
function startsNewCall(
  call: ToolCallBuilder,
  { id, name, inputText }: ParsedCallFragment,
): boolean {
  // A name alone does not show a new call, because some services repeat the name in every fragment.
  if (name === '' || call.name() === '') return false
  if (id !== '' && call.upstreamId !== '') return id !== call.upstreamId
  return inputText.startsWith('{') && tryParseJsonObject(call.inputText()) !== null
}
