/** Every field of a policy that somebody may wish otherwise, section by section. */
import type { PolicyText, ContextPolicy } from '../../core/context-policy.ts'
import { asDecimalBetween, asIntegerBetween } from '../checks/check-value-limits.ts'
import { checkWorkingMemorySchema } from './check-working-memory-schema.ts'
import {
  asList,
  asObject,
  asOneOf,
  asString,
  readOptional,
  createMissingFieldError,
  rejectUnknownFields,
} from '../checks/check-json-types.ts'
import {
  limitField,
  textField,
  textListField,
  numberField,
  choiceField,
  booleanField,
  type PolicyField,
} from './field-kinds.ts'

type Table = {
  readonly [Section in Exclude<keyof ContextPolicy, 'policy'>]: {
    readonly [Name in keyof ContextPolicy[Section]]: PolicyField<ContextPolicy[Section][Name]>
  }
}

const MOST = 1_000_000_000

/** Every number and word of a policy. In JSON they are written with underscores: `keep_turns`. */
export const POLICY_FIELDS: Table = {
  window: {
    items: limitField(1, 1_000_000, 'At most so many items of the conversation.'),
    turns: limitField(
      1,
      1_000_000,
      'At most so many turns; a turn is a question with all that was done about it. `1` is the running one alone.',
    ),
    tokens: limitField(
      1,
      MOST,
      'At most so many tokens of the conversation, by estimate, counted before old outputs are shortened.',
    ),
  },
  outputs: {
    keepTurns: limitField(
      0,
      1_000_000,
      'Long outputs of tools are shortened when they are older than so many turns; with `0` as soon as their turn is over.',
    ),
    step: numberField(
      1,
      1_000_000,
      'The border between old and new moves by so many turns at once.',
    ),
    longerThan: numberField(
      1,
      MOST,
      'Shorter outputs, in characters, are let alone, and so are those that are no longer than `head` and `tail` together. Who sets all three sets this to more than both.',
    ),
    head: numberField(0, MOST, 'So many characters are left of the beginning …'),
    tail: numberField(0, MOST, '… and so many of the end.'),
    cap: limitField(
      200,
      MOST,
      'Outputs longer than so many characters are cut when they are first seen, and stay like that.',
    ),
    expand: booleanField('Whether the model is offered a tool to read the rest of what was cut.'),
  },
  reasoning: {
    keep: choiceField(
      ['conversation', 'next_reply', 'open_turn'],
      'How long reasoning is given back: always, until the next reply is complete, or while its own turn runs.',
    ),
  },
  media: {
    window: limitField(0, 1_000_000, 'Media are shown in so many of the newest messages.'),
    keepTurns: limitField(
      0,
      1_000_000,
      'So many turns before the running one keep their images. Older ones go where that pays: what a cache takes for them is to be more, before the conversation is a quarter longer, than to read anew what stands behind them.',
    ),
    step: numberField(1, 1_000_000, 'Every so many turns it is looked at whether it does.'),
    imageMessages: limitField(
      0,
      1_000_000,
      'Images are shown in so many of the newest messages that have any.',
    ),
    images: limitField(
      0,
      1_000_000,
      'At most so many images are shown; when there are more, half of them go at once.',
    ),
    repeated: choiceField(['last', 'all'], 'Where an image is shown that comes several times.'),
    reuse: choiceField(
      ['user_turn_only', 'user_then_assistant'],
      'Whether images in what the assistant wrote are shown when the question has none.',
    ),
    bytes: limitField(1, MOST, 'At most so many bytes of media in one request.'),
    fetch: choiceField(
      ['auto', 'never'],
      'Whether the gateway loads media from the network for an upstream that cannot.',
    ),
    view: booleanField('Whether the model is offered a tool to look at media that are not shown.'),
  },
  notes: {
    entries: {
      read: readNotes,
      what: 'a list of `{"text", "depth", "role"}`',
      sentence:
        'Texts told to the model with `depth` messages behind them, as `developer` (default) or `user`. They move with every message: what stands behind the deepest of them is not cached, and on an upstream that checks prefixes its reasoning is lost, but not within a turn. A depth beyond the beginning costs nothing.',
    },
    mode: choiceField(
      ['add', 'replace'],
      'Whether they stand beside the notes of others, or in their place.',
    ),
  },
  speakers: {
    names: choiceField(
      ['auto', 'prefix', 'name', 'none'],
      'How the model is told who speaks: before the text (`prefix`), by `name` where its wire has that, whichever fits (`auto`), or not at all.',
    ),
    hidden: textListField('Of these authors, by id or name, nothing is shown but a placeholder.'),
    merge: choiceField(
      ['off', 'same_author'],
      'Whether messages of one author in a row become one, where they are nothing but text.',
    ),
    persona: textField(
      'Whom the model speaks as. What other assistants said is told as said by others.',
    ),
    actAs: textField('Whom the model plays instead: what this author said is told as its own.'),
  },
  summaries: {
    trigger: choiceField(
      ['off', 'tokens', 'turns', 'manual'],
      'What makes a summary: so many tokens, so many turns, or only a request for one.',
    ),
    by: choiceField(
      ['gateway', 'upstream'],
      'Who makes it. With `upstream` an upstream that compacts conversations itself is left to do so when there are too many tokens, in its own way: of the fields below only `above` is for it. Everywhere else it is the gateway.',
    ),
    above: {
      read: asDecimalBetween(0, MOST),
      what: 'number',
      sentence:
        'Tokens, or up to `1` a share of the context window; with `turns`, turns, and 32 where less than one is said. One that goes on from another stands for an eighth more of what is left at least, or for as many more turns as are kept or as this says, so that not every turn makes one.',
    },
    keepTurns: numberField(1, 1_000_000, 'So many of the newest turns are never summed up …'),
    keepTokens: numberField(0, MOST, '… nor as many as make up so many tokens.'),
    model: textField('Who writes summaries; the model of the request if nobody is named.'),
    focus: textField('What a summary should pay regard to above all.'),
  },
  layers: {
    workingMemory: booleanField('Whether the model has a notebook that it writes itself.'),
    schema: {
      read: (value, path) => readOptional(checkWorkingMemorySchema, value, path),
      what: 'JSON Schema without references and patterns, or null',
      sentence:
        'What the notebook must look like: what does not fit is not kept, and the model is told why.',
    },
    observations: booleanField('Whether what was observed over time is distilled and told.'),
    facts: booleanField(
      'Whether facts from earlier that fit the question are told, and the model is offered tools to keep and to forget some.',
    ),
    scope: choiceField(
      ['conversation', 'user'],
      'Whose these memories are: one conversation’s, or all that one user has.',
    ),
    tokens: numberField(1, MOST, 'So many tokens they may have together.'),
  },
  budget: {
    window: limitField(
      1,
      MOST,
      'What the model can take, in tokens: goes before `quirks.contextWindow` and what is known of the model.',
    ),
    reserve: limitField(
      0,
      MOST,
      'What is left free for the answer; otherwise the limit that the request sets. It must be less than a `window` that is set with it; where it is not less than another’s, it is half of that.',
    ),
    overflow: choiceField(
      ['auto', 'cut', 'refuse', 'send'],
      'What becomes of a request that is too long for the model: the oldest turns are left out, it is refused, or sent nevertheless. `auto` is as `truncation` of a Responses request says; a chat request, which has no such word, is sent, unless its newest input alone is far too long.',
    ),
    warnAt: {
      read: (value, path) => (value === null ? null : asDecimalBetween(0, 1)(value, path)),
      what: 'number up to 1, or null',
      sentence:
        'From which share of the window on, as the provider counts, a model at work with tools is told to finish. `0` is never.',
    },
    wrapUp: numberField(
      0,
      1000,
      'How many more steps it then has; afterwards it is asked without tools.',
    ),
  },
}

/** As far as there are messages; deeper is before the first of them. */
const asDepth = asIntegerBetween(0, 1_000_000)
const NOTE_FIELDS = ['text', 'depth', 'role']
const asNoteRole = asOneOf(['developer', 'user'])

function readNotes(value: unknown, path: string): readonly PolicyText[] {
  return asList(value, path).map((entry, at) => {
    const place = `${path}[${at}]`
    const note = asObject(entry, place)
    rejectUnknownFields(note, NOTE_FIELDS, place)
    if (note['text'] === undefined) throw createMissingFieldError(`${place}.text`)
    const role = readOptional(asString, note['role'], `${place}.role`)
    return {
      text: asString(note['text'], `${place}.text`),
      depth: readOptional(asDepth, note['depth'], `${place}.depth`) ?? 0,
      role: role === null ? 'developer' : asNoteRole(role, `${place}.role`),
    }
  })
}
