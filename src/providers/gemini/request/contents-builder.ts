/**
 * Defines the state that the encoder of messages passes on: Gemini's list of turns, called
 * contents, as far as it is encoded.
 */
import type { Item, Reasoning } from '../../../core/item.ts'
import { findToolCallPairs } from '../../../core/items/tool-call-pairs.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { MediaEncoder } from './media/encode-media.ts'
import type { GeminiContent, GeminiPart } from '../api-types.ts'

export interface ContentsBuilder {
  readonly items: readonly Item[]
  readonly context: EncodingContext
  /**
   * For each tool call the index of its output, and for each tool output the index of its call
   * (`findToolCallPairs`).
   */
  readonly partners: Int32Array
  readonly encodeMedia: MediaEncoder
  readonly contents: readonly GeminiContent[]
  /**
   * Returns the parts of the last turn if that is a model turn, otherwise those of a new model
   * turn. The caller must add at least one part.
   */
  readonly modelParts: () => GeminiPart[]
  readonly userParts: () => GeminiPart[]
  /** Indexes of those tool calls in the last turn whose outputs are not encoded yet. */
  readonly unansweredCalls: number[]
  /**
   * The reasoning item directly before the current item. It may contain the signature of the next
   * tool call.
   */
  reasoningBefore: Reasoning | null
  /** Media of the assistant, which are sent with the next user turn. */
  readonly pendingMedia: GeminiPart[]
}

export function createContentsBuilder(
  items: readonly Item[],
  context: EncodingContext,
  encodeMedia: MediaEncoder,
): ContentsBuilder {
  const contents: { role: GeminiContent['role']; parts: GeminiPart[] }[] = []
  const getParts = (role: GeminiContent['role']): GeminiPart[] => {
    const last = contents.at(-1)
    if (last?.role === role) return last.parts
    const parts: GeminiPart[] = []
    contents.push({ role, parts })
    return parts
  }
  return {
    items,
    context,
    partners: findToolCallPairs(items),
    encodeMedia,
    contents,
    modelParts: () => getParts('model'),
    userParts: () => getParts('user'),
    unansweredCalls: [],
    reasoningBefore: null,
    pendingMedia: [],
  }
}
