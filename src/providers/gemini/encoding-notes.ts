/**
 * The notes that the Gemini encoder writes, by code: how the content was altered (`changed`,
 * `moved`, `added`, `dropped`), and a sentence for the user.
 */
import type { NoteTable } from '../note-collector.ts'

export const NOTES = {
  'system-in-place': [
    'changed',
    'System text inside of the conversation is sent as tagged user text.',
  ],
  'system-as-user': [
    'changed',
    'The model has no system instruction; the text is sent with the first user message.',
  ],
  'media-in-system': ['dropped', 'Gemini accepts only text in system messages.'],
  'first-turn-added': ['added', 'The user must speak first; a short line is added.'],
  'last-turn-added': ['added', 'The model does not continue its message; the user asks for it.'],
  'foreign-reasoning': ['dropped', 'Gemini cannot read the reasoning of another provider.'],
  'thoughts-not-sent': ['dropped', 'Unsigned thought summaries are left out; signatures are sent.'],
  'signature-of-elsewhere': [
    'dropped',
    'A thought signature is valid only for its account and kind of model.',
  ],
  'signature-of-edited-text': [
    'dropped',
    'An edit of the text makes its thought signature invalid.',
  ],
  'signature-stand-in': [
    'added',
    'Gemini 3 requires a signature on a call; a documented stand-in is sent.',
  ],
  'call-without-name': ['dropped', 'A function call without a name cannot be sent.'],
  'call-without-output': [
    'added',
    'Gemini requires an output for each call; an error is sent for a missing one.',
  ],
  'output-without-call': ['dropped', 'An output without its call cannot be sent.'],
  'output-moved': ['moved', 'Gemini requires the outputs directly after their calls.'],
  'arguments-not-an-object': [
    'changed',
    'Arguments that are not a JSON object are sent as {"arguments": "…"}.',
  ],
  'custom-call': ['changed', 'A custom tool call is sent as a function call with one argument.'],
  'hosted-item': ['dropped', 'Only its own provider understands an item of a hosted tool.'],
  'unknown-part': ['dropped', 'A notice replaces a part of an unknown type.'],
  'media-unsupported': ['dropped', 'A notice replaces media that Gemini cannot read.'],
  'media-remote': ['dropped', 'A notice replaces media at a URL that Gemini does not load.'],
  'media-unresolved': ['dropped', 'A notice replaces a file that another service stores.'],
  'media-too-large': [
    'dropped',
    'Notices replace the oldest media, which exceed the size limit of a request.',
  ],
  'media-moved': ['moved', 'Media of an assistant message is sent with the next user message.'],
  'image-detail': ['changed', 'Gemini cannot set the level of detail of an image.'],
  'hosted-tool': ['dropped', 'Only its own provider can run a hosted tool.'],
  'custom-tool': ['changed', 'A custom tool is sent as a function with one argument, `input`.'],
  'tool-name-changed': ['changed', 'Gemini rejects this tool name; answers get the original name.'],
  'schema-simplified': [
    'changed',
    'Keywords that Gemini does not support are left out of the schema.',
  ],
  'strict-not-enforced': ['changed', 'Gemini cannot enforce the schema of arguments.'],
  'tools-narrowed': [
    'changed',
    'Only allowed tools are sent; Gemini cannot restrict a free choice otherwise.',
  ],
  'tool-choice-dropped': ['dropped', 'Gemini has no such tool choice.'],
  'parallel-not-limited': ['dropped', 'Gemini cannot turn off parallel tool calls.'],
  'format-with-tools': [
    'changed',
    'The model cannot combine JSON output with tools; an instruction asks for JSON.',
  ],
  'effort-mapped': ['changed', 'The model does not support this effort; the nearest one is sent.'],
  'stop-enforced': [
    'changed',
    'Gemini accepts five stop sequences; the gateway ends the answer at the others.',
  ],
  'not-with-this-model': ['dropped', 'The model rejects this parameter.'],
  'unsupported-parameter': ['dropped', 'Gemini has no such parameter.'],
} as const satisfies NoteTable

export type NoteCode = keyof typeof NOTES
