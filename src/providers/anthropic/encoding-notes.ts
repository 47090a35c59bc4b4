/**
 * The notes that the Anthropic encoder writes about content that it drops, changes, moves or adds, each
 * with a sentence for the user.
 */
import { describeNotes, type NoteCollector, type NoteTable } from '../note-collector.ts'

export const NOTES = {
  ...describeNotes('dropped', {
    'call-without-name': 'A call without a name is left out, with its output.',
    'effort-unsupported': 'The model does not think, or its setting is unknown.',
    'file-of-another-provider':
      'A notice replaces the file, because only the service that stores it knows its id.',
    'hosted-tool': 'Only its own provider can run a hosted tool.',
    'item-of-another-provider': 'Only another provider understands this item.',
    'media-unsupported': 'A notice replaces media that the model cannot read.',
    'output-without-call': 'An output without its call is left out.',
    'parameter-unsupported': 'The API has no such setting.',
    'reasoning-of-another-provider': 'Only its own provider can read reasoning.',
    'reasoning-without-follower': 'A message cannot end with thinking.',
    'refusal-left-out': 'A refused answer without content is left out.',
    'sampling-conflict': 'Only one of temperature and top_p is accepted; temperature is sent.',
    'sampling-unsupported': 'The model does not accept this setting.',
    'sampling-with-thinking': 'Sampling cannot be set while the model thinks.',
    'server-tool-without-result': "A call of Anthropic's own tool without a result is left out.",
    'thinking-changed': 'The text of this thinking was edited, so its signature is invalid.',
    'thinking-incomplete':
      'Other thinking of the same answer cannot be sent back, so none of it is sent.',
    'thinking-off': 'While thinking is off, the API rejects thinking after the last user message.',
    'thinking-unsigned': 'Thinking without a signature cannot be sent back.',
    'thinking-unsupported': 'The model cannot read thinking.',
    'thinking-with-forced-tool': 'A forced tool call excludes thinking.',
    'tool-choice-without-tools': 'There is no tool to choose.',
    'user-id-too-long': 'A user id has at most 256 characters.',
    'tool-field-unsupported': 'The API has no such field of a tool; the tool is sent without it.',
  }),
  ...describeNotes('weakened', {
    'effort-lowered': 'The model does not support this effort; `high` is sent.',
    'forced-tool-unsupported': 'The model cannot be forced to call a tool.',
    'json-object-as-instruction': 'The API has no JSON mode; an instruction asks for JSON.',
    'max-tokens-lowered': 'The limit is lowered to the maximum of the model.',
    'max-tokens-raised': 'The limit is raised above the thinking budget, which counts as output.',
    'schema-loosened': 'Schema rules that the API cannot enforce are left out.',
    'strict-not-enforced': 'Tool schemas are enforced only with `quirks.strictTools`.',
    'temperature-clamped': 'Temperature is limited to values from 0 to 1.',
    'thinking-always-on': 'The model cannot stop thinking; effort `low` is sent.',
    'thinking-missing-in-loop':
      'The answer after the last user message began without thinking, so it must continue without it.',
    'grammar-not-enforced': 'The grammar of a custom tool is left out.',
  }),
  ...describeNotes('changed', {
    'allowed-tools-filtered': 'Only allowed tools are sent; the API cannot forbid one.',
    'arguments-not-an-object':
      'Arguments that are not a JSON object are sent as {"arguments": "…"}.',
    'call-id-changed':
      'The call id has more than 64 characters or others than letters, digits, _ and -, or it repeats.',
    'custom-tool-as-function': 'A custom tool is sent as a function with one string.',
    'empty-text': 'The API rejects empty text.',
    'format-as-tool': 'The model has no structured output; it must call a tool.',
    'image-detail-ignored': 'The API has no level of detail for images.',
    'stop-enforced': 'The API rejects blank stop sequences; the gateway ends the answer at them.',
    'system-in-place': 'Instructions inside of the conversation are sent as tagged user text.',
    'tool-name-changed': 'Tool names have letters, digits, _ and -; answers get the original name.',
    'tool-schema-changed': 'A tool schema must be an object without alternatives at its root.',
  }),
  ...describeNotes('moved', {
    'assistant-media-moved': 'Media of an assistant message are sent in a user message after it.',
    'output-moved': 'A tool output is moved directly after its call.',
  }),
  ...describeNotes('added', {
    'compaction-asked': 'The API is asked to compact the conversation.',
    'compaction-named':
      'A compaction block is only accepted with the setting for compaction, so it is sent, with a threshold that is never reached.',
    'first-user-line-added': 'The user must speak first; a short line is added.',
    'output-missing': 'The API requires an output for each call; an error replaces a missing one.',
    'prefill-as-instruction': 'The model cannot continue its message; the user asks for it.',
    'tools-stubbed': 'Tools of earlier calls must be defined; the model cannot call them.',
  }),
} satisfies NoteTable

export type AnthropicNotes = NoteCollector<keyof typeof NOTES>
