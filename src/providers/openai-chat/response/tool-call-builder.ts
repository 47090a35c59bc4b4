/**
 * A tool call while it is being written. It begins when its name is known; what comes of its input
 * before waits for that.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { ToolCall } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { ParsedCallFragment } from './parse-call-fragment.ts'
import { unwrapInput } from '../custom-tool-as-function.ts'

export interface ToolCallBuilder {
  /** As its service first named it. */
  readonly upstreamIndex: number | null
  readonly upstreamId: string
  readonly name: () => string
  /** What has come of its input. */
  readonly inputText: () => string
  readonly addFragment: (piece: ParsedCallFragment) => void
  /** What broke off is marked as incomplete. */
  readonly end: (isWhole: boolean, native: JsonObject | undefined) => void
}

export interface ToolCallOptions {
  readonly emit: (event: StreamEvent) => void
  /** The next free place among the items. */
  readonly nextIndex: () => number
  /** The id that a call goes by, from the one that its service gave it. */
  readonly createCallId: (givenId: string) => string
  /** Names of custom tools that went out disguised as functions. */
  readonly wrappedToolNames: ReadonlySet<string>
}

export function createToolCallBuilder(
  { index: number, id: givenId }: ParsedCallFragment,
  options: ToolCallOptions,
): ToolCallBuilder {
  const { emit } = options
  let begun: StartedCall | null = null
  let text = ''
  let entry: JsonObject | null = null

  return {
    upstreamIndex: number,
    upstreamId: givenId,
    name: () => begun?.name ?? '',
    inputText: () => text,
    addFragment(piece) {
      if (piece.extraContent !== null) entry = { ...entry, extra_content: piece.extraContent }
      text += piece.inputText
      let told = piece.inputText
      if (begun === null) {
        if (piece.name === '') return
        begun = startCall(piece, givenId, options)
        emit({ type: 'item-started', index: begun.index, item: createItem(begun, '') })
        told = text
      }
      // The input of a disguised call is known only when its JSON is whole.
      if (told === '' || begun.kind === 'wrapped') return
      emit({ type: 'arguments-delta', index: begun.index, text: told })
    },
    end(isWhole, native) {
      if (begun === null) return
      const { index, kind } = begun
      const input = kind === 'wrapped' ? unwrapInput(text) : text
      if (kind === 'wrapped' && input !== '') emit({ type: 'arguments-delta', index, text: input })
      const chat = entry === null ? native : { ...native, $entry: entry }
      const item = {
        ...createItem(begun, input),
        ...(isWhole ? {} : { status: 'incomplete' }),
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

function startCall(
  { name, isCustom }: ParsedCallFragment,
  givenId: string,
  { nextIndex, createCallId, wrappedToolNames }: ToolCallOptions,
): StartedCall {
  const kind = isCustom ? 'custom' : wrappedToolNames.has(name) ? 'wrapped' : 'function'
  return { index: nextIndex(), callId: createCallId(givenId), name, kind }
}

function createItem({ callId, name, kind }: StartedCall, text: string): ToolCall {
  return kind === 'function'
    ? { type: 'function_call', call_id: callId, name, arguments: text }
    : { type: 'custom_tool_call', call_id: callId, name, input: text }
}
