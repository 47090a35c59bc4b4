/**
 * What Chat Completions cannot say, or says differently: every code that its notes carry, with what
 * happened and one sentence for a person.
 */
import {
  createNoteCollector as open,
  type NoteCollector as Gathering,
  type NoteTable,
} from '../note-collector.ts'

export const NOTES = {
  'hosted-item': ['dropped', 'Items of hosted tools have no place among chat messages.'],
  'reasoning-not-sent': [
    'dropped',
    'This upstream is not known to take reasoning back, or only in front of tool calls.',
  ],
  'reasoning-sealed': [
    'dropped',
    'Reasoning that only its own provider can read says nothing here.',
  ],
  'reasoning-of-elsewhere': [
    'dropped',
    'Reasoning is valid only at the account and model it is of.',
  ],
  'reasoning-stand-in': [
    'added',
    'This upstream refuses calls without reasoning; nobody knows it, so that an empty one is sent.',
  ],
  'reasoning-without-follower': [
    'dropped',
    'Reasoning goes with a message or a call, and none came.',
  ],
  'output-without-call': ['dropped', 'An output whose call is not there is refused.'],
  'output-moved': ['moved', 'A tool output has to follow its call at once.'],
  'text-moved': ['moved', 'In one message the text stands in front of the calls.'],
  'text-joined': ['changed', 'Several parts of text are sent as one string, a line each.'],
  'call-id-changed': ['changed', 'The call id is not one that this upstream takes.'],
  'custom-call-as-function': ['changed', 'A call with free text is sent as one with one argument.'],
  'assistant-media-moved': [
    'moved',
    'What the assistant showed follows its message as user input.',
  ],
  'tool-media-moved': ['moved', 'Images in a tool output follow it in a user message.'],
  'image-without-url': ['dropped', 'An image can only be sent by its URL; a notice stands for it.'],
  'file-by-url': ['dropped', 'A file cannot be sent by a URL; a notice stands for it.'],
  'image-detail-changed': ['changed', 'This level of detail is not known; the upstream chooses.'],
  'media-in-system': ['dropped', 'System messages hold only text.'],
  'unknown-part': ['dropped', 'This part of a message has no counterpart; a notice stands for it.'],
  'annotations-not-sent': [
    'dropped',
    'Annotations are about a text, and not part of what is sent.',
  ],
  'developer-as-system': [
    'changed',
    'The role developer is not known; the message is sent as system.',
  ],
  'system-as-user': [
    'changed',
    'The role system is not known here; the text is sent as user input.',
  ],
  'name-not-sent': ['dropped', "A message's name is refused by this upstream."],
  'messages-merged': ['changed', 'Roles must take turns; messages of one role became one.'],
  'first-user-line-added': [
    'added',
    'A conversation starts with a user; a short line is in front.',
  ],
  'assistant-line-added': [
    'added',
    'A user may not speak right behind a tool; a short line is between.',
  ],
  'prefix-marked': ['changed', 'The last message is marked as one to be gone on with.'],
  'prefill-as-request': [
    'added',
    'The upstream does not continue a message; the user asks for it.',
  ],
  'hosted-tool': ['dropped', 'A tool that another provider runs cannot be offered here.'],
  'custom-tool-as-function': [
    'changed',
    'A tool for free text is offered as a function of one string.',
  ],
  'allowed-tools-filtered': [
    'changed',
    'Only the allowed tools are sent, for the rest cannot be forbidden.',
  ],
  'tool-choice-unsupported': ['dropped', 'This way of choosing a tool is not known here.'],
  'tool-choice-without-tools': ['dropped', 'There is no tool to choose.'],
  'stop-enforced': [
    'changed',
    'Stop sequences that this upstream does not take are enforced in the stream.',
  ],
  'reasoning-unsealed': [
    'changed',
    'Reasoning comes as plain text here; there is nothing sealed to include.',
  ],
  'parameter-unsupported': ['dropped', 'Chat Completions has no such field.'],
  'parameter-refused': ['dropped', 'This upstream refuses the field.'],
  'parameter-renamed': ['changed', 'This upstream knows the field by another name.'],
} as const satisfies NoteTable

export type NoteCode = keyof typeof NOTES

export type NoteCollector = Gathering<NoteCode>

export function createNoteCollector(): NoteCollector {
  return open('chat', NOTES)
}
