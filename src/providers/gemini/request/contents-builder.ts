/** The turns of a request while they are being written. */
import type { Item, Reasoning } from '../../../core/item.ts'
import { findToolCallPairs } from '../../../core/items/tool-call-pairs.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { MediaEncoder } from './media/encode-media.ts'
import type { GeminiContent, GeminiPart } from '../api-types.ts'

export interface ContentsBuilder {
  readonly items: readonly Item[]
  readonly context: EncodingContext
  /** For each item the place of its other end, as `findToolCallPairs` gives it. */
  readonly partners: Int32Array
  readonly encodeMedia: MediaEncoder
  readonly contents: readonly GeminiContent[]
  /** The parts of the last turn if it is the model's, else of a new one. Turns are never empty. */
  readonly modelParts: () => GeminiPart[]
  readonly userParts: () => GeminiPart[]
  /** Places of the calls in the last turn, which has no answers yet. */
  readonly calls: number[]
  /** The reasoning right before; it may carry a signature for the call that comes next. */
  sealed: Reasoning | null
  /** Media of the assistant, waiting for the next turn of the user. */
  readonly relocated: GeminiPart[]
}

export function createContentsBuilder(
  items: readonly Item[],
  context: EncodingContext,
  encodeMedia: MediaEncoder,
): ContentsBuilder {
  const contents: { role: GeminiContent['role']; parts: GeminiPart[] }[] = []
  const partsOf = (role: GeminiContent['role']): GeminiPart[] => {
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
    modelParts: () => partsOf('model'),
    userParts: () => partsOf('user'),
    calls: [],
    sealed: null,
    relocated: [],
  }
}
