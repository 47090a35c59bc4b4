/**
 * What this wire cannot say, or says differently: every code that its notes carry, with what
 * happened and one sentence for a person.
 */
import {
  createNoteCollector as open,
  type NoteCollector as Gathering,
  type NoteTable,
} from '../note-collector.ts'

export const NOTES = {
  'system-in-place': [
    'changed',
    'Gemini takes system text only in front; a later system or developer message is sent as tagged user text.',
  ],
  'system-as-user': [
    'changed',
    'This model has no system instruction; the text is put in front of the first user message.',
  ],
  'media-in-system': ['dropped', 'System and developer messages hold only text at Gemini.'],
  'first-turn-added': [
    'added',
    'Gemini wants a conversation to begin with the user; a line of the user was put in front.',
  ],
  'last-turn-added': [
    'added',
    'This model does not continue its own words; a line of the user was put at the end.',
  ],
  'foreign-reasoning': ['dropped', 'Reasoning of another provider means nothing to Gemini.'],
  'thoughts-not-sent': [
    'dropped',
    'Gemini does not want its unsigned thought summaries back; its signatures are sent.',
  ],
  'signature-of-elsewhere': [
    'dropped',
    'A thought signature holds only at the account and the kind of model that made it.',
  ],
  'signature-of-edited-text': [
    'dropped',
    'The text of this message is no longer the one that its thought signature was made for.',
  ],
  'signature-stand-in': [
    'added',
    'Gemini 3 wants a signature on a function call; where none is known the documented stand-in is sent.',
  ],
  'call-without-name': ['dropped', 'A function call without a name cannot be sent.'],
  'call-without-output': [
    'added',
    'Gemini wants an answer to every function call; a call without an output got one that says so.',
  ],
  'output-without-call': ['dropped', 'An output whose call is not there cannot be sent.'],
  'output-moved': [
    'moved',
    'Gemini wants the answers to function calls directly behind them; an output was moved there.',
  ],
  'arguments-not-an-object': [
    'changed',
    'The arguments of this call are not a JSON object; they are sent inside one.',
  ],
  'custom-call': ['changed', 'A call with free text is sent as a function call with one argument.'],
  'hosted-item': ['dropped', 'Items of hosted tools can only go back to where they were made.'],
  'unknown-part': ['dropped', 'This part of a message has no counterpart; a notice stands for it.'],
  'media-unsupported': [
    'dropped',
    'Gemini cannot read media of this kind; a notice stands in its place.',
  ],
  'media-remote': [
    'dropped',
    'Gemini does not fetch media from this address; a notice stands in its place.',
  ],
  'media-unresolved': [
    'dropped',
    'The file is known only by an id of another service; a notice stands in its place.',
  ],
  'media-too-large': [
    'dropped',
    'The media of this request exceed what Gemini takes inline; notices stand for the oldest.',
  ],
  'media-moved': ['moved', 'Media of an assistant message are sent with the next user message.'],
  'image-detail': ['changed', 'The level of detail of an image cannot be asked for.'],
  'hosted-tool': ['dropped', 'Hosted tools of another service cannot be used here.'],
  'custom-tool': [
    'changed',
    'A tool with free text is offered as a function with one argument, `input`.',
  ],
  'tool-name-changed': [
    'changed',
    'Gemini does not take a name like this one; the answer is given the own name back.',
  ],
  'schema-simplified': [
    'changed',
    'Gemini understands a part of JSON Schema; the other keywords were left out.',
  ],
  'strict-not-enforced': ['changed', 'Gemini has no strict mode for the arguments of a function.'],
  'tools-narrowed': [
    'changed',
    'Only the allowed tools are offered: Gemini cannot restrict a free choice otherwise.',
  ],
  'tool-choice-dropped': ['dropped', 'This choice of a tool cannot be expressed.'],
  'parallel-not-limited': ['dropped', 'Gemini cannot be kept from calling tools in parallel.'],
  'format-with-tools': [
    'changed',
    'This model gives JSON or calls functions, not both; the format is asked for in words.',
  ],
  'effort-mapped': ['changed', 'This model knows no such effort; the nearest one is asked for.'],
  'stop-enforced': [
    'changed',
    'Gemini takes at most five stop sequences; the others are enforced in the stream.',
  ],
  'not-with-this-model': ['dropped', 'This model refuses the parameter.'],
  'unsupported-parameter': ['dropped', 'Gemini has no such parameter.'],
} as const satisfies NoteTable

export type NoteCode = keyof typeof NOTES

export type NoteCollector = Gathering<NoteCode>

export function createNoteCollector(): NoteCollector {
  return open('gemini', NOTES)
}
