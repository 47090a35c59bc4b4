/**
 * The tool calls of an answer while they are being written. Which call a fragment belongs to is the
 * one thing that every service says differently: by index, by id, by both in every fragment, or by
 * neither.
 */
import { isObject, type JsonObject } from '../../../core/json/json.ts'
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
  /** Whether some call never got a name, so that nobody could answer it. */
  readonly hasNameless: () => boolean
  /** `native` is about the whole message, and stands with its first call. */
  readonly end: (isWhole: boolean, native: JsonObject | undefined) => void
}

export function createCallFragmentMatcher(options: ToolCallOptions): CallFragmentMatcher {
  const calls: ToolCallBuilder[] = []
  return {
    addFragment(fragment) {
      const piece = parseCallFragment(fragment)
      let call = findCall(calls, piece)
      if (call === undefined) calls.push((call = createToolCallBuilder(piece, options)))
      call.addFragment(piece)
    },
    count: () => calls.length,
    hasNameless: () => calls.some((call) => call.name() === ''),
    end(isWhole, native) {
      for (const [place, call] of calls.entries()) {
        call.end(isWhole, place === 0 ? native : undefined)
      }
    },
  }
}

/** The call that a fragment goes on with; `undefined` if it begins a new one. */
function findCall(
  calls: readonly ToolCallBuilder[],
  piece: ParsedCallFragment,
): ToolCallBuilder | undefined {
  const { index, id } = piece
  const call =
    index !== null
      ? calls.findLast((one) => one.upstreamIndex === index)
      : id !== ''
        ? calls.find((one) => one.upstreamId === id)
        : calls.at(-1)
  return call === undefined || startsNewCall(call, piece) ? undefined : call
}

/** Some services put every call under one number, or under none. */
function startsNewCall(
  call: ToolCallBuilder,
  { id, name, inputText }: ParsedCallFragment,
): boolean {
  // Others repeat the name in every fragment, so that a name alone says nothing.
  if (name === '' || call.name() === '') return false
  if (id !== '' && call.upstreamId !== '') return id !== call.upstreamId
  return inputText.startsWith('{') && isJsonObject(call.inputText())
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
