/**
 * Builds a tool call from the fragments of a stream and emits its events. The call starts when its
 * name is known; input that arrives before the name is buffered.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { ToolCall } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { ParsedCallFragment } from './parse-call-fragment.ts'
import { unwrapInput } from '../custom-tool-as-function.ts'

export interface ToolCallBuilder {
  /** The index and the id in the first fragment of the call; null and `''` if it had none. */
  readonly upstreamIndex: number | null
  readonly upstreamId: string
  readonly name: () => string
  /** Returns the input that has arrived so far. */
  readonly inputText: () => string
  readonly addFragment: (fragment: ParsedCallFragment) => void
  /** Ends the call. `isComplete: false` marks the item as incomplete. */
  readonly end: (isComplete: boolean, messageFields: JsonObject | undefined) => void
}

export interface ToolCallOptions {
  readonly emit: (event: StreamEvent) => void
  /** Returns the index of the answer's next item. */
  readonly nextIndex: () => number
  /** Returns the upstream's id if it can be used, otherwise a generated one. */
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
    const kind = isCustom ? 'custom' : wrappedToolNames.has(name) ? 'wrapped' : 'function'
    const call = { index: nextIndex(), callId: createCallId(upstreamId), name, kind } as const
    emit({ type: 'item-started', index: call.index, item: createItem(call, '') })
    return call
  }
  return {
    upstreamIndex,
    upstreamId,
    name: () => started?.name ?? '',
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
      // Emits no deltas of wrapped input, because it can be unwrapped only when its JSON is
      // complete.
      if (delta === '' || started.kind === 'wrapped') return
      emit({ type: 'arguments-delta', index: started.index, text: delta })
    },
    end(isComplete, messageFields) {
      if (started === null) return
      const { index, kind } = started
      const input = kind === 'wrapped' ? unwrapInput(inputText) : inputText
      if (kind === 'wrapped' && input !== '') emit({ type: 'arguments-delta', index, text: input })
      const chat = entryFields === null ? messageFields : { ...messageFields, $entry: entryFields }
      const item = {
        ...createItem(started, input),
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
  readonly name: string
  readonly kind: 'function' | 'custom' | 'wrapped'
}

function createItem({ callId, name, kind }: StartedCall, text: string): ToolCall {
  return kind === 'function'
    ? { type: 'function_call', call_id: callId, name, arguments: text }
    : { type: 'custom_tool_call', call_id: callId, name, input: text }
}
