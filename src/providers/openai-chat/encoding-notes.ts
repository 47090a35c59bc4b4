/**
 * The codes of the notes that the Chat Completions encoder writes when it drops, changes, moves or adds
 * something, each with a sentence for users.
 */
import {
  createNoteCollector as createCollector,
  type NoteCollector as Collector,
  type NoteTable,
} from '../note-collector.ts'

export const NOTES = {
  'hosted-item': ['dropped', 'Chat Completions has no messages for items of hosted tools.'],
  'reasoning-not-sent': [
    'dropped',
    'This upstream is not known to accept earlier reasoning, or accepts it only with tool calls.',
  ],
  'reasoning-sealed': [
    'dropped',
    'The reasoning is encrypted, and only its own provider can read it.',
  ],
  'reasoning-of-elsewhere': [
    'dropped',
    'Reasoning is valid only for the account and the model that made it.',
  ],
  'reasoning-stand-in': [
    'added',
    'This upstream rejects calls without reasoning. It is unknown here, so empty reasoning is sent.',
  ],
  'reasoning-without-follower': [
    'dropped',
    'Reasoning is sent with the message or call after it, and there is none.',
  ],
  'output-without-call': ['dropped', 'Upstreams reject a tool output without its call.'],
  'output-moved': ['moved', 'A tool output must directly follow its call.'],
  'text-moved': ['moved', 'Within one message, text comes before the calls.'],
  'text-joined': ['changed', 'Several text parts are sent as one string, one line each.'],
  'call-id-changed': ['changed', 'This upstream does not accept the call id, so it is replaced.'],
  'custom-call-as-function': [
    'changed',
    'The custom call is sent as a function call; its text is the only argument.',
  ],
  'assistant-media-moved': [
    'moved',
    'Media of an assistant message are sent in a user message after it.',
  ],
  'tool-media-moved': ['moved', 'Images of a tool output are sent in a user message after it.'],
  'image-without-url': ['dropped', 'An image needs a URL or a data URL; a notice replaces it.'],
  'file-by-url': ['dropped', 'A file cannot be sent by URL; a notice replaces it.'],
  'image-detail-changed': [
    'changed',
    'Chat Completions does not know this level of detail; the upstream chooses.',
  ],
  'media-in-system': ['dropped', 'System messages can hold only text.'],
  'unknown-part': ['dropped', 'Chat Completions has no such message part; a notice replaces it.'],
  'annotations-not-sent': ['dropped', 'Annotations of earlier answers cannot be sent.'],
  'developer-as-system': [
    'changed',
    'This upstream does not know the role developer; the message is sent as system.',
  ],
  'system-as-user': [
    'changed',
    'This upstream does not accept a system message here; it is sent as a user message.',
  ],
  'name-not-sent': ['dropped', "This upstream rejects a message's name."],
  'messages-merged': [
    'changed',
    'Roles must alternate, so consecutive messages of one role are merged.',
  ],
  'first-user-line-added': [
    'added',
    'The first message must be from the user, so a short one is added.',
  ],
  'assistant-line-added': [
    'added',
    'A user message must not directly follow a tool output, so a short assistant message is inserted.',
  ],
  'prefix-marked': [
    'changed',
    'The last assistant message is marked `prefix: true`, so the model continues it.',
  ],
  'prefill-as-request': [
    'added',
    'The upstream does not continue an assistant message, so a user message asks for the continuation.',
  ],
  'hosted-tool': [
    'dropped',
    'A tool that another provider runs cannot be offered to this upstream.',
  ],
  'custom-tool-as-function': [
    'changed',
    'A custom tool is sent as a function with one string parameter.',
  ],
  'allowed-tools-filtered': [
    'changed',
    'Only the allowed tools are sent, because the upstream cannot be told to avoid the others.',
  ],
  'tool-choice-unsupported': [
    'dropped',
    'Chat Completions does not know this kind of tool choice.',
  ],
  'tool-choice-without-tools': [
    'dropped',
    'A tool choice is left out, because there are no tools.',
  ],
  'stop-enforced': [
    'changed',
    'The gateway ends the answer at stop sequences that this upstream does not accept.',
  ],
  'reasoning-unsealed': [
    'changed',
    'Reasoning is plain text here, so there is no encrypted reasoning to include.',
  ],
  'parameter-unsupported': ['dropped', 'Chat Completions has no such parameter.'],
  'parameter-refused': ['dropped', 'This upstream rejects the parameter.'],
  'parameter-renamed': ['changed', 'The parameter is sent under the name that this upstream uses.'],
} as const satisfies NoteTable

export type NoteCode = keyof typeof NOTES

export type NoteCollector = Collector<NoteCode>

export function createNoteCollector(): NoteCollector {
  return createCollector('chat', NOTES)
}
