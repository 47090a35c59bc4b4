/** Every reason that this wire gives for not passing something on as it was, and what it did. */
import {
  createNoteCollector as open,
  type NoteCollector as Gathering,
  type NoteTable,
} from '../note-collector.ts'

export const NOTES = {
  'id-of-stored-item': [
    'changed',
    'The id of the item was left out: nothing is stored upstream, so it could only be looked up in vain.',
  ],
  'reasoning-not-sealed': [
    'dropped',
    'Reasoning without `encrypted_content` was left out: this upstream can read reasoning only by that or by an id of its own.',
  ],
  'reasoning-made-elsewhere': [
    'dropped',
    'Reasoning that another upstream or another account had made was left out: only its maker can read it.',
  ],
  'item-of-another-wire': [
    'dropped',
    'An item that only the upstream understands that made it was left out.',
  ],
  'call-id-shortened': [
    'changed',
    'A `call_id` of more than 64 characters was shortened, in the call and in its output alike.',
  ],
  'part-renamed': [
    'changed',
    'Text was sent under the name that its role demands: `output_text` for an assistant, `input_text` for anybody else.',
  ],
  'media-of-assistant': [
    'dropped',
    'A part that is neither text nor refusal was left out of an assistant message, which cannot hold one.',
  ],
  'part-without-word': [
    'dropped',
    'A part of a message was left out, because this API has no word for it. A notice stands for it, but in what an assistant said.',
  ],
  'tool-without-word': ['dropped', 'A tool was left out, because this API has no word for it.'],
  'tool-choice-without-tools': [
    'dropped',
    '`tool_choice` was left out, because no tools are left to choose from.',
  ],
  'stop-enforced': ['changed', 'This API has no stop sequences; they are enforced in the stream.'],
  'parameter-without-word': [
    'dropped',
    'A parameter was left out, because this API has no word for it.',
  ],
  'parameter-moved': ['changed', 'A parameter was sent under the name that this API has for it.'],
  'compaction-asked': [
    'added',
    'The upstream is asked to compact the conversation by itself, in `context_management`.',
  ],
  'below-minimum': [
    'changed',
    '`max_output_tokens` was raised to the least that this upstream accepts.',
  ],
} as const satisfies NoteTable

export type NoteCode = keyof typeof NOTES

export type NoteCollector = Gathering<NoteCode>

export function createNoteCollector(): NoteCollector {
  return open('responses', NOTES)
}
