/**
 * Builds a tool call from streamed fragments and emits its events. Buffers input that arrives
 * before the name, because the call can start only with its name.
 */
import { type JsonObject, isObject, textOrEmpty, type Json } from '../../../core/json/json.ts'
import type { StreamEvent } from '../../../core/stream-event.ts'
import { unwrapCustomToolInput } from '../../wrap-custom-tool-input.ts'
import type { ToolCallFragment } from '../api-types.ts'
import { createToolCall, type OriginalTool } from '../../response/map-encoded-tool-names.ts'

export interface ToolCallBuilder {
  /** The index and id in the first fragment of the call; null and `''` if it has none. */
  readonly upstreamIndex: number | null
  readonly upstreamId: string
  readonly name: () => string
  /** Returns the input received so far. */
  readonly inputText: () => string
  readonly addFragment: (fragment: ParsedCallFragment) => void
  /** Ends the item. `isComplete: false` marks it as incomplete. */
  readonly end: (isComplete: boolean, messageFields: JsonObject | undefined) => void
}

export interface ToolCallOptions {
  readonly emit: (event: StreamEvent) => void
  /** Returns the index of the answer's next item. */
  readonly nextIndex: () => number
  /** Returns the upstream's call id, or a generated id if the upstream's is empty or repeated. */
  readonly createCallId: (upstreamId: string) => string
  /** The names of custom tools that were sent as functions. */
  readonly wrappedToolNames: ReadonlySet<string>
}

export function createToolCallBuilder(
  { index: upstreamIndex, id: upstreamId }: ParsedCallFragment,
  { emit, nextIndex, createCallId, wrappedToolNames }: ToolCallOptions,
): ToolCallBuilder {
  let started: StartedCall | null = null
  let inputText = ''
  let entryFields: JsonObject | null = null

  const start = ({ name, isCustom }: ParsedCallFragment): StartedCall => {
    const isWrapped = !isCustom && wrappedToolNames.has(name)
    const tool = { name, isCustom: isCustom || isWrapped }
    const call = { index: nextIndex(), callId: createCallId(upstreamId), tool, isWrapped }
    emit({ type: 'item-started', index: call.index, item: createToolCall(call.callId, tool, '') })
    return call
  }
  return {
    upstreamIndex,
    upstreamId,
    name: () => started?.tool.name ?? '',
    inputText: () => inputText,
    addFragment(fragment) {
      if (fragment.extraContent !== null)
        entryFields = { ...entryFields, extra_content: fragment.extraContent }
      inputText += fragment.inputText
      let delta = fragment.inputText
      if (started === null) {
        if (fragment.name === '') return
        started = start(fragment)
        delta = inputText
      }
      // Wrapped input is emitted at the end, because it can be unwrapped only when its JSON is
      // complete.
      if (delta === '' || started.isWrapped) return
      emit({ type: 'arguments-delta', index: started.index, text: delta })
    },
    end(isComplete, messageFields) {
      if (started === null) return
      const { index, callId, tool, isWrapped } = started
      const input = isWrapped ? unwrapCustomToolInput(inputText) : inputText
      if (isWrapped && input !== '') emit({ type: 'arguments-delta', index, text: input })
      const chat = entryFields === null ? messageFields : { ...messageFields, $entry: entryFields }
      const item = {
        ...createToolCall(callId, tool, input),
        ...(isComplete ? {} : { status: 'incomplete' }),
        ...(chat === undefined ? {} : { native: { chat } }),
      }
      emit({ type: 'item-ended', index, item })
    },
  }
}

interface StartedCall {
  readonly index: number
  readonly callId: string
  readonly tool: OriginalTool
  readonly isWrapped: boolean
}

export interface ParsedCallFragment {
  /** The index and id of the call in the fragment; null and `''` if the fragment has none. */
  readonly index: number | null
  readonly id: string
  readonly name: string
  readonly inputText: string
  readonly isCustom: boolean
  /** Google only: the field `extra_content`, which contains a thought signature. */
  readonly extraContent: JsonObject | null
}

export function parseCallFragment(fragment: ToolCallFragment): ParsedCallFragment {
  const { index, id, type, function: functionBody, custom, extra_content: extra } = fragment
  const isCustom = isObject(custom) || (type === 'custom' && !isObject(functionBody))
  const body: JsonObject = isObject(custom) ? custom : isObject(functionBody) ? functionBody : {}
  return {
    index: Number.isInteger(index) ? (index as number) : null,
    id: typeof id === 'number' ? String(id) : textOrEmpty(id),
    name: textOrEmpty(body['name']),
    inputText: readInput(isCustom ? body['input'] : body['arguments']),
    isCustom,
    extraContent: isObject(extra) ? extra : null,
  }
}

/** Returns the arguments as JSON text. Some servers send an object. */
function readInput(value: Json | undefined): string {
  return isObject(value) ? JSON.stringify(value) : textOrEmpty(value)
}
