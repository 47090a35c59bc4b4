/** A content block while it is being received, and the answer that it is part of. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { OriginalTool } from '../tool-names.ts'
import type { ContentBlock } from '../api-types.ts'

export interface AnswerState {
  nextIndex: number
  /** The message that further text would be added to. */
  message: OpenMessageState | null
  readonly toolNames: ReadonlyMap<string, OriginalTool>
  /** The id that a call goes by, from the one that it came with. */
  readonly callIdFor: (givenId: string) => string
}

export interface OpenMessageState {
  readonly index: number
  readonly parts: OpenPart[]
}

interface OpenPart {
  text: string
  /** In the provider's own words. */
  readonly citations: readonly Json[]
  isOver: boolean
}

export type BlockDecoder = (answer: AnswerState, start: ContentBlock) => StartedBlock

export interface StartedBlock {
  readonly events: readonly StreamEvent[]
  readonly block: BlockBuilder
}

export interface BlockBuilder {
  readonly delta: (delta: JsonObject) => readonly StreamEvent[]
  /** `isWhole` is false if the stream broke off before the block's end. */
  readonly stop: (isWhole: boolean) => readonly StreamEvent[]
}

export function markIfIncomplete<Kind extends Item>(item: Kind, isWhole: boolean): Kind {
  return isWhole ? item : { ...item, status: 'incomplete' }
}

/** No delta means that there is nothing to add to the start, which is usually `{}`. */
export function encodeStartInput({ input }: ContentBlock): string {
  return isObject(input) ? JSON.stringify(input) : '{}'
}
