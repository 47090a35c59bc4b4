/** Defines the state of an answer and of its content blocks during decoding. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { OriginalTool } from '../../response/map-encoded-tool-names.ts'
import type { ContentBlock } from '../api-types.ts'

export interface AnswerState {
  nextIndex: number
  /** The message to which the next text block is added; `null` if no message is open. */
  openMessage: OpenMessageState | null
  readonly toolNames: ReadonlyMap<string, OriginalTool>
  /** Returns the upstream's call id, or a generated id if the upstream's is empty or repeated. */
  readonly createCallId: (upstreamId: string) => string
}

export interface OpenMessageState {
  readonly index: number
  readonly parts: OpenPart[]
}

interface OpenPart {
  text: string
  /** Citations in Anthropic's format. */
  readonly citations: readonly Json[]
  isOver: boolean
}

export type BlockDecoder = (answer: AnswerState, start: ContentBlock) => StartedBlock

export interface StartedBlock {
  readonly events: readonly StreamEvent[]
  readonly builder: BlockBuilder
}

export interface BlockBuilder {
  readonly addDelta: (delta: JsonObject) => readonly StreamEvent[]
  /** Ends the block. `isComplete` is false if the stream broke off within the block. */
  readonly end: (isComplete: boolean) => readonly StreamEvent[]
}

export function markIfIncomplete<Kind extends Item>(item: Kind, isComplete: boolean): Kind {
  return isComplete ? item : { ...item, status: 'incomplete' }
}

/**
 * Returns the input of a tool call as JSON, from the start event of its block. If deltas with the
 * input follow, it is usually `{}` there.
 */
export function readStartEventInput({ input }: ContentBlock): string {
  return isObject(input) ? JSON.stringify(input) : '{}'
}
