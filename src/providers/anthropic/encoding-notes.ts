/**
 * Why this wire drops, changes, moves or adds something: every code with what happened, and a
 * sentence for a person.
 */
import {
  createNoteCollector as open,
  type NoteCollector as Gathering,
  type NoteTable,
} from '../note-collector.ts'

export const NOTES = {
  'allowed-tools-filtered': [
    'changed',
    'Only the allowed tools are sent: this wire cannot offer a tool and forbid it.',
  ],
  'arguments-not-an-object': [
    'changed',
    'Arguments that are no JSON object are wrapped as {"arguments": …}.',
  ],
  'assistant-media-moved': [
    'moved',
    'An image or file in an assistant message follows it as user input.',
  ],
  'call-id-changed': [
    'changed',
    'The call id is not one of letters, digits, _ and -, or too long, or was used before.',
  ],
  'call-without-name': ['dropped', 'A call without a name is left out, with its output.'],
  'compaction-asked': ['added', 'The API is asked to compact the conversation by itself.'],
  'compaction-named': [
    'added',
    'A compaction block is accepted only where compacting is named; with this threshold it is not done again.',
  ],
  'custom-tool-as-function': [
    'changed',
    'A custom tool becomes a function with one string; its grammar is not enforced.',
  ],
  'effort-lowered': [
    'changed',
    'The model does not know this effort; the highest that it knows is sent.',
  ],
  'effort-unsupported': ['dropped', 'The model does not think, or it is not known how to ask it.'],
  'empty-text': ['changed', 'This wire refuses empty text.'],
  'file-of-another-provider': [
    'dropped',
    'A file id is known only where the file was uploaded; a notice stands in its place.',
  ],
  'first-user-line-added': [
    'added',
    'A conversation starts with a user; a short line is put in front.',
  ],
  'forced-tool-unsupported': [
    'changed',
    'The model cannot be forced to call a tool; it may choose.',
  ],
  'format-as-tool': [
    'changed',
    'The model has no structured output of its own; it answers by calling a tool.',
  ],
  'hosted-tool': ['dropped', 'A tool that another provider runs cannot be offered here.'],
  'image-detail-ignored': ['changed', 'There is no level of detail for images.'],
  'item-of-another-provider': [
    'dropped',
    'An item that only another provider understands is left out.',
  ],
  'json-object-as-instruction': [
    'changed',
    'There is no JSON mode; the model is told to answer with JSON.',
  ],
  'max-tokens-lowered': ['changed', 'The model cannot write that many tokens.'],
  'max-tokens-raised': [
    'changed',
    'The budget for thinking counts as output, so the limit is put above it.',
  ],
  'media-unsupported': [
    'dropped',
    'The model cannot read this kind of media; a notice stands in its place.',
  ],
  'output-missing': ['added', 'A call without an output is answered with an error.'],
  'output-moved': ['moved', 'A tool output has to follow its call at once.'],
  'output-without-call': ['dropped', 'An output whose call is not there is left out.'],
  'parameter-unsupported': ['dropped', 'This wire has no such setting.'],
  'prefill-as-instruction': [
    'added',
    'The model cannot continue an assistant message; it is asked to do so.',
  ],
  'reasoning-of-another-provider': [
    'dropped',
    'Only the provider that wrote reasoning can read it.',
  ],
  'reasoning-without-follower': [
    'dropped',
    'Thinking may not be the last thing in an assistant message.',
  ],
  'refusal-left-out': [
    'dropped',
    'A refused answer without content is not part of the conversation.',
  ],
  'sampling-conflict': [
    'dropped',
    'Temperature and top_p cannot be set together; temperature is kept.',
  ],
  'sampling-unsupported': ['dropped', 'The model does not take this setting.'],
  'sampling-with-thinking': ['dropped', 'Sampling cannot be set while the model thinks.'],
  'schema-loosened': [
    'changed',
    'Rules that this wire cannot enforce are taken out of the schema.',
  ],
  'server-tool-without-result': [
    'dropped',
    "A call of the provider's own tool that was never answered is left out.",
  ],
  'stop-enforced': [
    'changed',
    'Stop sequences without a character that is not blank are not taken; they are enforced in the stream.',
  ],
  'strict-not-enforced': ['changed', 'Tool arguments are not held to the schema.'],
  'system-in-place': [
    'changed',
    'Instructions in the middle of a conversation are sent as tagged user text.',
  ],
  'temperature-clamped': ['changed', 'Temperature lies between 0 and 1 here.'],
  'thinking-always-on': [
    'changed',
    'The model cannot stop thinking; it is asked for the least effort.',
  ],
  'thinking-changed': [
    'dropped',
    'Thinking whose text is not what was signed cannot be sent back.',
  ],
  'thinking-missing-in-loop': [
    'changed',
    'The running tool loop did not start with thinking, so it goes on without.',
  ],
  'thinking-off': [
    'dropped',
    'Thinking of the running turn cannot be sent back while thinking is off.',
  ],
  'thinking-unsigned': ['dropped', 'Thinking without a signature cannot be sent back.'],
  'thinking-unsupported': ['dropped', 'The model cannot read thinking.'],
  'thinking-with-forced-tool': [
    'dropped',
    'A model that is forced to call a tool cannot think first.',
  ],
  'tool-choice-without-tools': ['dropped', 'There is no tool to choose.'],
  'tool-name-changed': [
    'changed',
    'Tool names consist of letters, digits, _ and -; answers are given the name back.',
  ],
  'tool-schema-changed': [
    'changed',
    'The schema of a tool must be an object without alternatives at its root.',
  ],
  'tools-stubbed': [
    'added',
    'The conversation has tool calls, so their tools must be defined; they cannot be called.',
  ],
  'user-id-too-long': ['dropped', 'A user id has at most 256 characters.'],
} as const satisfies NoteTable

export type NoteCode = keyof typeof NOTES

export type NoteCollector = Gathering<NoteCode>

export function createNoteCollector(): NoteCollector {
  return open('anthropic', NOTES)
}
