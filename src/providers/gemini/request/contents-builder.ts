/**
 * Builds `contents`, the list of turns in a Gemini request. A turn, in the words of Gemini, is one
 * message of the user or of the model. The encoders of items share this builder.
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
   * Maps the index of each tool call to the index of its output, and vice versa; `UNPAIRED` for all
   * other items (`findToolCallPairs`).
   */
  readonly pairedIndexes: Int32Array
  readonly encodeMedia: MediaEncoder
  readonly contents: readonly GeminiContent[]
  /**
   * Returns the parts of the last turn, so that the caller can add to them. If the last turn is the
   * user's, starts a model turn; the caller must then add at least one part.
   */
  readonly getModelParts: () => GeminiPart[]
  readonly getUserParts: () => GeminiPart[]
  /** The indexes of the tool calls in the last turn whose outputs are not encoded yet. */
  readonly unansweredCalls: number[]
  /**
   * The reasoning item directly before the current item. Its `encrypted_content` may be the
   * signature of the tool call after it.
   */
  reasoningBefore: Reasoning | null
  /** Media of assistant messages, which must be sent in a user turn. */
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
    pairedIndexes: findToolCallPairs(items),
    encodeMedia,
    contents,
    getModelParts: () => getParts('model'),
    getUserParts: () => getParts('user'),
    unansweredCalls: [],
    reasoningBefore: null,
    pendingMedia: [],
  }
}
