/**
 * The codes of the notes that the Responses encoder writes when it drops, changes or adds something,
 * each with a sentence for users.
 */
import {
  createNoteCollector as createCollector,
  type NoteCollector as Collector,
  type NoteTable,
} from '../note-collector.ts'

export const NOTES = {
  'id-of-stored-item': [
    'changed',
    'The id of the item was left out: requests have `store: false`, so the upstream could not find the item by it.',
  ],
  'reasoning-not-sealed': [
    'dropped',
    'Reasoning without `encrypted_content` was left out: this upstream cannot read it without.',
  ],
  'reasoning-made-elsewhere': [
    'dropped',
    'Reasoning made by another upstream or account was left out: only its maker can read it.',
  ],
  'item-of-another-wire': [
    'dropped',
    'An item that only the upstream that made it can read was left out.',
  ],
  'call-id-shortened': [
    'changed',
    'A `call_id` of more than 64 characters was shortened, in the call and in its output.',
  ],
  'part-renamed': [
    'changed',
    'The type of a text part was changed to the one for its role: `output_text` for an assistant, `input_text` for all others.',
  ],
  'media-of-assistant': [
    'dropped',
    'Media were left out of an assistant message, which can hold only text and refusals.',
  ],
  'part-without-word': [
    'dropped',
    'A message part that this API does not have was left out. A notice replaces it, except in assistant messages.',
  ],
  'tool-without-word': [
    'dropped',
    'A tool was left out, because this API has no tools of its type.',
  ],
  'tool-choice-without-tools': [
    'dropped',
    '`tool_choice` was left out, because there are no tools.',
  ],
  'stop-enforced': [
    'changed',
    'This API has no stop sequences; the gateway ends the answer at them.',
  ],
  'parameter-without-word': [
    'dropped',
    'A parameter was left out, because this API does not have it.',
  ],
  'parameter-moved': ['changed', 'A parameter was sent under the name that this API uses.'],
  'compaction-asked': [
    'added',
    '`context_management` was added, so that the upstream compacts a long conversation itself.',
  ],
  'below-minimum': [
    'changed',
    '`max_output_tokens` was raised to the minimum that this upstream accepts.',
  ],
} as const satisfies NoteTable

export type NoteCode = keyof typeof NOTES

export type NoteCollector = Collector<NoteCode>

export function createNoteCollector(): NoteCollector {
  return createCollector('responses', NOTES)
}
