/** State of a request's list of turns while it is being encoded. */
import type { Item, Reasoning } from '../../../core/item.ts'
import { findToolCallPairs } from '../../../core/items/tool-call-pairs.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { MediaEncoder } from './media/encode-media.ts'
import type { GeminiContent, GeminiPart } from '../api-types.ts'

export interface ContentsBuilder {
  readonly items: readonly Item[]
  readonly context: EncodingContext
  /** For each item the index of the other end of its call, as `findToolCallPairs` returns it. */
  readonly partners: Int32Array
  readonly encodeMedia: MediaEncoder
  readonly contents: readonly GeminiContent[]
  /**
   * Returns the parts of the last turn if it is the model's, else those of a new turn. The caller
   * adds at least one part.
   */
  readonly modelParts: () => GeminiPart[]
  readonly userParts: () => GeminiPart[]
  /** Indexes of the calls in the last turn, which have no outputs yet. */
  readonly unansweredCalls: number[]
  /** The reasoning item directly before; it may carry a signature for the next call. */
  reasoningBefore: Reasoning | null
  /** Media of the assistant, to be sent with the next user turn. */
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
