/**
 * Defines the event names for each kind of text in a stream: output text, refusal, raw reasoning,
 * reasoning summary, arguments, custom input. The first four are parts of an item, which also need
 * events for their start and end.
 */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'

export type TextChannel = 'text' | 'refusal' | 'summary' | 'content' | 'arguments'

export interface TextEventNames {
  readonly delta: string
  readonly done: string
  /** The field that contains the complete text in the event at its end, e.g. `text`. */
  readonly textField: string
  /** The events of the part that contains the text; `null` for arguments and custom input. */
  readonly parts: PartEventNames | null
  readonly hasLogprobs: boolean
}

export interface PartEventNames {
  readonly list: 'content' | 'summary'
  /** The field with the index of the part, e.g. `content_index`. */
  readonly indexField: string
  readonly added: string
  readonly done: string
  readonly createPart: (text: string) => JsonObject
}

const CONTENT_PART = {
  list: 'content',
  indexField: 'content_index',
  added: 'response.content_part.added',
  done: 'response.content_part.done',
} as const

const TEXT: TextEventNames = {
  delta: 'response.output_text.delta',
  done: 'response.output_text.done',
  textField: 'text',
  parts: {
    ...CONTENT_PART,
    createPart: (text) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
  },
  hasLogprobs: true,
}

const REFUSAL: TextEventNames = {
  delta: 'response.refusal.delta',
  done: 'response.refusal.done',
  textField: 'refusal',
  parts: { ...CONTENT_PART, createPart: (refusal) => ({ type: 'refusal', refusal }) },
  hasLogprobs: false,
}

const RAW_REASONING: TextEventNames = {
  delta: 'response.reasoning_text.delta',
  done: 'response.reasoning_text.done',
  textField: 'text',
  parts: { ...CONTENT_PART, createPart: (text) => ({ type: 'reasoning_text', text }) },
  hasLogprobs: false,
}

const SUMMARY: TextEventNames = {
  delta: 'response.reasoning_summary_text.delta',
  done: 'response.reasoning_summary_text.done',
  textField: 'text',
  parts: {
    list: 'summary',
    indexField: 'summary_index',
    added: 'response.reasoning_summary_part.added',
    done: 'response.reasoning_summary_part.done',
    createPart: (text) => ({ type: 'summary_text', text }),
  },
  hasLogprobs: false,
}

const ARGUMENTS: TextEventNames = {
  delta: 'response.function_call_arguments.delta',
  done: 'response.function_call_arguments.done',
  textField: 'arguments',
  parts: null,
  hasLogprobs: false,
}

const INPUT: TextEventNames = {
  delta: 'response.custom_tool_call_input.delta',
  done: 'response.custom_tool_call_input.done',
  textField: 'input',
  parts: null,
  hasLogprobs: false,
}

/**
 * Returns the names; `null` if items of this type have no such text, e.g. a refusal in reasoning.
 */
export function findTextEventNames(
  type: Item['type'],
  channel: TextChannel,
  visibility: ReasoningVisibility,
): TextEventNames | null {
  switch (channel) {
    case 'text':
      return type === 'message' ? TEXT : null
    case 'refusal':
      return type === 'message' ? REFUSAL : null
    case 'summary':
      return type === 'reasoning' ? SUMMARY : null
    case 'content':
      if (type !== 'reasoning') return null
      return visibility.rawReasoning ? RAW_REASONING : SUMMARY
    case 'arguments':
      if (type === 'function_call') return ARGUMENTS
      return type === 'custom_tool_call' ? INPUT : null
  }
}
