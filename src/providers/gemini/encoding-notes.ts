/**
 * The notes that the Gemini encoder writes about content that it drops, changes, moves or adds, each
 * with a sentence for the user.
 */
import { describeNotes, type NoteCollector, type NoteTable } from '../note-collector.ts'

export const NOTES = {
  ...describeNotes('dropped', {
    'media-in-system': 'Gemini accepts only text in system messages.',
    'foreign-reasoning': 'Gemini cannot read the reasoning of another provider.',
    'thoughts-not-sent': 'Unsigned thought summaries are left out; signatures are sent.',
    'signature-of-elsewhere':
      'A thought signature is valid only for its account and kind of model.',
    'signature-of-edited-text': 'An edit of the text makes its thought signature invalid.',
    'call-without-name': 'A function call without a name cannot be sent.',
    'output-without-call': 'An output without its call cannot be sent.',
    'hosted-item': 'Only its own provider understands an item of a hosted tool.',
    'unknown-part': 'A notice replaces a part of an unknown type.',
    'media-unsupported': 'A notice replaces media that Gemini cannot read.',
    'media-remote': 'A notice replaces media at a URL that Gemini does not load.',
    'media-unresolved': 'A notice replaces a file that another service stores.',
    'media-too-large':
      'Notices replace the oldest media, which exceed the size limit of a request.',
    'hosted-tool': 'Only its own provider can run a hosted tool.',
    'tool-choice-dropped': 'Gemini has no such tool choice.',
    'parallel-not-limited': 'Gemini cannot turn off parallel tool calls.',
    'not-with-this-model': 'The model rejects this parameter.',
    'unsupported-parameter': 'Gemini has no such parameter.',
    'tool-field-unsupported': 'The API has no such field of a tool; the tool is sent without it.',
  }),
  ...describeNotes('weakened', {
    'schema-simplified': 'Keywords that Gemini does not support are left out of the schema.',
    'strict-not-enforced': 'Gemini cannot enforce the schema of arguments.',
    'format-with-tools':
      'The model cannot combine JSON output with tools; an instruction asks for JSON.',
    'effort-mapped': 'The model does not support this effort; the nearest one is sent.',
    'grammar-not-enforced':
      'The grammar of a custom tool is described to the model, but not enforced.',
  }),
  ...describeNotes('changed', {
    'system-in-place': 'System text inside of the conversation is sent as tagged user text.',
    'system-as-user':
      'The model has no system instruction; the text is sent with the first user message.',
    'arguments-not-an-object':
      'Arguments that are not a JSON object are sent as {"arguments": "…"}.',
    'custom-call': 'A custom tool call is sent as a function call with one argument.',
    'image-detail': 'Gemini cannot set the level of detail of an image.',
    'custom-tool': 'A custom tool is sent as a function with one argument, `input`.',
    'tool-name-changed': 'Gemini rejects this tool name; answers get the original name.',
    'tools-narrowed':
      'Only allowed tools are sent; Gemini cannot restrict a free choice otherwise.',
    'stop-enforced':
      'Gemini accepts five stop sequences; the gateway ends the answer at the others.',
  }),
  ...describeNotes('moved', {
    'output-moved': 'Gemini requires the outputs directly after their calls.',
    'media-moved': 'Media of an assistant message are sent with the next user message.',
  }),
  ...describeNotes('added', {
    'first-turn-added': 'The user must speak first; a short line is added.',
    'last-turn-added': 'The model does not continue its message; the user asks for it.',
    'signature-stand-in': 'Gemini 3 requires a signature on a call; a documented stand-in is sent.',
    'call-without-output':
      'Gemini requires an output for each call; an error is sent for a missing one.',
  }),
} satisfies NoteTable

export type NoteCode = keyof typeof NOTES

export type GeminiNotes = NoteCollector<NoteCode>
