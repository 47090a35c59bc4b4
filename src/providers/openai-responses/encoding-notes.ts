/**
 * The notes that the Responses encoder writes about content that it drops, changes or adds,
 * each with a sentence for the user.
 */
import { describeNotes, type NoteCollector, type NoteTable } from '../note-collector.ts'

export const NOTES = {
  ...describeNotes('dropped', {
    'reasoning-not-sealed':
      'Reasoning without `encrypted_content` was left out: this upstream cannot read it without.',
    'reasoning-made-elsewhere':
      'Reasoning of another upstream or account is left out, because only its maker can read it.',
    'item-of-another-wire': 'An item that only the upstream that made it can read is left out.',
    'media-of-assistant':
      'Media are left out of an assistant message, which can hold only text and refusals.',
    'part-without-word':
      'A message part that this API does not have is left out. A notice replaces it, except in assistant messages.',
    'tool-without-word': 'A tool was left out, because this API has no tools of its type.',
    'tool-choice-without-tools': '`tool_choice` is left out, because there are no tools.',
    'parameter-without-word': 'A parameter was left out, because this API does not have it.',
    'tool-field-unsupported':
      'This API may reject a field of a tool that Chat Completions does not have, so it is left out.',
  }),
  ...describeNotes('weakened', {
    'below-minimum': '`max_output_tokens` was raised to the minimum that this upstream accepts.',
  }),
  ...describeNotes('changed', {
    'id-of-stored-item':
      'The id of the item was left out: requests have `store: false`, so the upstream could not find the item by it.',
    'call-id-shortened':
      'A `call_id` of more than 64 characters was shortened, in the call and in its output.',
    'part-renamed':
      'The type of a text part is changed to the one for its role: `output_text` for an assistant, `input_text` for all others.',
    'stop-enforced': 'This API has no stop sequences; the gateway ends the answer at them.',
    'parameter-moved': 'A parameter is sent under the name that this API uses.',
  }),
  ...describeNotes('added', {
    'compaction-asked':
      '`context_management` was added, so that the upstream compacts a long conversation itself.',
  }),
} satisfies NoteTable

export type NoteCode = keyof typeof NOTES
export type ResponsesNotes = NoteCollector<NoteCode>
