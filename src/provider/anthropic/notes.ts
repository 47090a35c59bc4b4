/**
 * Why this wire drops, changes, moves or adds something: every code with a sentence for a person.
 * The README's table of what each wire cannot carry is made from it.
 */
import type { Note } from '../../conversation/note.ts'

export const NOTES = {
  'allowed-tools-filtered':
    'Only the allowed tools are sent: this wire cannot offer a tool and forbid it.',
  'arguments-not-an-object': 'Arguments that are no JSON object are wrapped as {"arguments": …}.',
  'assistant-media-moved': 'An image or file in an assistant message follows it as user input.',
  'call-id-changed':
    'The call id is not one of letters, digits, _ and -, or too long, or was used before.',
  'call-without-name': 'A call without a name is left out, with its output.',
  'custom-tool-as-function':
    'A custom tool becomes a function with one string; its grammar is not enforced.',
  'effort-lowered': 'The model does not know this effort; the highest that it knows is sent.',
  'effort-unsupported': 'The model does not think, or it is not known how to ask it.',
  'empty-text': 'This wire refuses empty text.',
  'file-of-another-provider':
    'A file id is known only where the file was uploaded; a notice stands in its place.',
  'first-user-line-added': 'A conversation starts with a user; a short line is put in front.',
  'forced-tool-unsupported': 'The model cannot be forced to call a tool; it may choose.',
  'format-as-tool': 'The model has no structured output of its own; it answers by calling a tool.',
  'hosted-tool': 'A tool that another provider runs cannot be offered here.',
  'image-detail-ignored': 'There is no level of detail for images.',
  'item-of-another-provider': 'An item that only another provider understands is left out.',
  'json-object-as-instruction': 'There is no JSON mode; the model is told to answer with JSON.',
  'max-tokens-lowered': 'The model cannot write that many tokens.',
  'max-tokens-raised': 'The budget for thinking counts as output, so the limit is put above it.',
  'media-unsupported': 'The model cannot read this kind of media; a notice stands in its place.',
  'output-missing': 'A call without an output is answered with an error.',
  'output-moved': 'A tool output has to follow its call at once.',
  'output-without-call': 'An output whose call is not there is left out.',
  'parameter-unsupported': 'This wire has no such setting.',
  'prefill-as-instruction': 'The model cannot continue an assistant message; it is asked to do so.',
  'reasoning-of-another-provider': 'Only the provider that wrote reasoning can read it.',
  'reasoning-without-follower': 'Thinking may not be the last thing in an assistant message.',
  'refusal-left-out': 'A refused answer without content is not part of the conversation.',
  'sampling-conflict': 'Temperature and top_p cannot be set together; temperature is kept.',
  'sampling-unsupported': 'The model does not take this setting.',
  'sampling-with-thinking': 'Sampling cannot be set while the model thinks.',
  'schema-loosened': 'Rules that this wire cannot enforce are taken out of the schema.',
  'server-tool-without-result':
    "A call of the provider's own tool that was never answered is left out.",
  'stop-blank': 'A stop sequence needs a character that is not blank.',
  'strict-not-enforced': 'Tool arguments are not held to the schema.',
  'system-in-place': 'Instructions in the middle of a conversation are sent as tagged user text.',
  'temperature-clamped': 'Temperature lies between 0 and 1 here.',
  'thinking-always-on': 'The model cannot stop thinking; it is asked for the least effort.',
  'thinking-changed': 'Thinking whose text is not what was signed cannot be sent back.',
  'thinking-missing-in-loop':
    'The running tool loop did not start with thinking, so it goes on without.',
  'thinking-off': 'Thinking of the running turn cannot be sent back while thinking is off.',
  'thinking-unsigned': 'Thinking without a signature cannot be sent back.',
  'thinking-unsupported': 'The model cannot read thinking.',
  'thinking-with-forced-tool': 'A model that is forced to call a tool cannot think first.',
  'tool-choice-without-tools': 'There is no tool to choose.',
  'tool-name-changed':
    'Tool names consist of letters, digits, _ and -; answers are given the name back.',
  'tool-schema-changed': 'The schema of a tool must be an object without alternatives at its root.',
  'tools-stubbed':
    'The conversation has tool calls, so their tools must be defined; they cannot be called.',
  'user-id-too-long': 'A user id has at most 256 characters.',
} as const satisfies Record<string, string>

export type NoteCode = keyof typeof NOTES

/** Gathers the notes of one encoding. */
export interface Notebook {
  readonly write: (did: Note['did'], why: NoteCode, where?: Where) => void
  readonly notes: readonly Note[]
}

/** The place of an item, or the name of a request field. */
export interface Where {
  readonly at?: number | null
  readonly field?: string
  readonly detail?: string
}

export function openNotebook(): Notebook {
  const notes: Note[] = []
  return {
    notes,
    write(did, why, where = {}) {
      const { at, field, detail } = where
      notes.push({
        did,
        why,
        by: 'anthropic',
        ...(typeof at === 'number' ? { at } : {}),
        ...(field === undefined ? {} : { field }),
        ...(detail === undefined ? {} : { detail }),
      })
    },
  }
}
