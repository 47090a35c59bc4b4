/**
 * The notes that the Chat Completions encoder writes about content that it drops, changes, moves or adds,
 * each with a sentence for the user.
 */
import { describeNotes, type NoteCollector, type NoteTable } from '../note-collector.ts'

export const NOTES = {
  ...describeNotes('dropped', {
    'hosted-item': 'Chat Completions has no messages for items of hosted tools.',
    'reasoning-not-sent':
      'This upstream is not known to accept earlier reasoning, or accepts it only with tool calls.',
    'reasoning-sealed': 'The reasoning is encrypted, and only its own provider can read it.',
    'reasoning-of-elsewhere': 'Reasoning is valid only for the account and the model that made it.',
    'reasoning-without-follower':
      'Reasoning is sent with the message or call after it, and there is none.',
    'output-without-call': 'Upstreams reject a tool output without its call.',
    'image-without-url': 'An image needs a URL or a data URL; a notice replaces it.',
    'file-by-url': 'A file cannot be sent by URL; a notice replaces it.',
    'media-in-system': 'System messages can hold only text.',
    'unknown-part': 'Chat Completions has no such message part; a notice replaces it.',
    'annotations-not-sent': 'Annotations of earlier answers cannot be sent.',
    'name-not-sent': "This upstream rejects a message's name.",
    'hosted-tool': 'A tool that another provider runs cannot be offered to this upstream.',
    'tool-choice-unsupported': 'Chat Completions does not know this kind of tool choice.',
    'tool-choice-without-tools': 'A tool choice is left out, because there are no tools.',
    'parameter-unsupported': 'Chat Completions has no such parameter.',
    'parameter-refused': 'This upstream rejects the parameter.',
    'tool-field-unsupported': 'The API has no such field of a tool; the tool is sent without it.',
  }),
  ...describeNotes('weakened', {
    'grammar-not-enforced':
      'The grammar of a custom tool is described to the model, but not enforced.',
  }),
  ...describeNotes('changed', {
    'text-joined': 'Several text parts are sent as one string, one line each.',
    'call-id-changed': 'This upstream does not accept the call id, so it is replaced.',
    'custom-call-as-function':
      'The custom call is sent as a function call; its text is the only argument.',
    'image-detail-changed':
      'Chat Completions does not know this level of detail; the upstream chooses.',
    'developer-as-system':
      'This upstream does not know the role developer; the message is sent as system.',
    'system-as-user':
      'This upstream does not accept a system message here; it is sent as a user message.',
    'messages-merged': 'Roles must alternate, so consecutive messages of one role are merged.',
    'prefix-marked':
      'The last assistant message is marked `prefix: true`, so the model continues it.',
    'custom-tool-as-function': 'A custom tool is sent as a function with one string parameter.',
    'allowed-tools-filtered':
      'Only the allowed tools are sent, because the upstream cannot be told to avoid the others.',
    'stop-enforced':
      'The gateway ends the answer at stop sequences that this upstream does not accept.',
    'reasoning-unsealed':
      'Reasoning is plain text here, so there is no encrypted reasoning to include.',
    'parameter-renamed': 'The parameter is sent under the name that this upstream uses.',
  }),
  ...describeNotes('moved', {
    'output-moved': 'A tool output must directly follow its call.',
    'text-moved': 'Within one message, text comes before the calls.',
    'assistant-media-moved': 'Media of an assistant message are sent in a user message after it.',
    'tool-media-moved': 'Images of a tool output are sent in a user message after it.',
  }),
  ...describeNotes('added', {
    'reasoning-stand-in':
      'This upstream rejects calls without reasoning. It is unknown here, so empty reasoning is sent.',
    'first-user-line-added': 'The first message must be from the user, so a short one is added.',
    'assistant-line-added':
      'A user message must not directly follow a tool output, so a short assistant message is inserted.',
    'prefill-as-request':
      'The upstream does not continue an assistant message, so a user message asks for the continuation.',
  }),
} satisfies NoteTable

export type NoteCode = keyof typeof NOTES
export type ChatNotes = NoteCollector<NoteCode>
