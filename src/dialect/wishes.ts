/**
 * Reads what somebody wishes of a context: the field `backstory` of a request, the setting `CONTEXT`,
 * what is said of a conversation. What makes no sense is refused with its path.
 */
import {
  POLICY_NAMES,
  type ContextNote,
  type ContextPolicy,
  type PolicyName,
  type Wishes,
} from '../conversation/policy.ts'
import { isObject, type JsonObject } from '../conversation/json.ts'
import { GatewayError } from '../errors.ts'
import { asBoolean, asList, asObject, asOneOf, asString, asWords, maybe, missing } from './check.ts'
import { asDecimalIn, asIntegerIn } from './ranges.ts'

type Reader<Value> = (value: unknown, path: string) => Value

interface Field<Value> {
  readonly read: Reader<Value>
  /** What may be written there, for people. */
  readonly what: string
  readonly sentence: string
}

type Table = {
  readonly [Section in Exclude<keyof ContextPolicy, 'policy'>]: {
    readonly [Name in keyof ContextPolicy[Section]]: Field<ContextPolicy[Section][Name]>
  }
}

const MOST = 1_000_000_000

/** Every number and word of a policy. In JSON they are written with underscores: `keep_turns`. */
export const WISHES: Table = {
  window: {
    items: limit(1, 1_000_000, 'At most so many items of the conversation.'),
    turns: limit(
      1,
      1_000_000,
      'At most so many turns; a turn is a question with all that was done about it. `1` is the running one alone.',
    ),
    tokens: limit(
      1,
      MOST,
      'At most so many tokens of the conversation, by estimate, counted before old outputs are shortened.',
    ),
  },
  outputs: {
    keepTurns: limit(
      0,
      1_000_000,
      'Long outputs of tools are shortened when they are older than so many turns; with `0` as soon as their turn is over.',
    ),
    step: number(1, 1_000_000, 'The border between old and new moves by so many turns at once.'),
    longerThan: number(1, MOST, 'Shorter outputs, in characters, are let alone.'),
    head: number(0, MOST, 'So many characters are left of the beginning …'),
    tail: number(0, MOST, '… and so many of the end.'),
    cap: limit(
      200,
      MOST,
      'Outputs longer than so many characters are cut when they are first seen, and stay like that.',
    ),
    expand: yesOrNo('Whether the model is offered a tool to read the rest of what was cut.'),
  },
  reasoning: {
    keep: word(
      ['conversation', 'next_reply', 'open_turn'],
      'How long reasoning is given back: always, until the next reply is complete, or while its own turn runs.',
    ),
  },
  media: {
    window: limit(0, 1_000_000, 'Media are shown in so many of the newest messages.'),
    imageMessages: limit(
      0,
      1_000_000,
      'Images are shown in so many of the newest messages that have any.',
    ),
    images: limit(
      0,
      1_000_000,
      'At most so many images are shown; when there are more, half of them go at once.',
    ),
    repeated: word(['last', 'all'], 'Where an image is shown that comes several times.'),
    reuse: word(
      ['user_turn_only', 'user_then_assistant'],
      'Whether images in what the assistant wrote are shown when the question has none.',
    ),
    bytes: limit(1, MOST, 'At most so many bytes of media in one request.'),
    fetch: word(
      ['auto', 'never'],
      'Whether the gateway loads media from the network for an upstream that cannot.',
    ),
    view: yesOrNo('Whether the model is offered a tool to look at media that are not shown.'),
  },
  notes: {
    entries: {
      read: readNotes,
      what: 'a list of `{"text", "depth", "role"}`',
      sentence:
        'Texts told to the model with `depth` messages behind them, as `developer` (default) or `user`. They move with every message: what stands behind the deepest of them is not cached, and on an upstream that checks prefixes its reasoning is lost, but not within a turn. A depth beyond the beginning costs nothing.',
    },
    mode: word(
      ['add', 'replace'],
      'Whether they stand beside the notes of others, or in their place.',
    ),
  },
  speakers: {
    names: word(
      ['auto', 'prefix', 'name', 'none'],
      'How the model is told who speaks: before the text (`prefix`), by `name` where its wire has that, whichever fits (`auto`), or not at all.',
    ),
    hidden: names('Of these authors, by id or name, nothing is shown but a placeholder.'),
    merge: word(
      ['off', 'same_author'],
      'Whether messages of one author in a row become one, where they are nothing but text.',
    ),
    persona: name(
      'Whom the model speaks as. What other assistants said is told as said by others.',
    ),
    actAs: name('Whom the model plays instead: what this author said is told as its own.'),
  },
  summaries: {
    trigger: word(
      ['off', 'tokens', 'turns', 'manual'],
      'What makes a summary: so many tokens, so many turns, or only a request for one.',
    ),
    above: {
      read: asDecimalIn(0, MOST),
      what: 'number',
      sentence:
        'Tokens, or up to `1` a share of the context window; with `turns`, turns, and 32 where less than one is said.',
    },
    keepTurns: number(1, 1_000_000, 'So many of the newest turns are never summed up …'),
    keepTokens: number(0, MOST, '… nor as many as make up so many tokens.'),
    model: name('Who writes summaries; the model of the request if nobody is named.'),
    focus: name('What a summary should pay regard to above all.'),
  },
  layers: {
    workingMemory: yesOrNo('Whether the model has a notebook that it writes itself.'),
    observations: yesOrNo('Whether what was observed over time is distilled and told.'),
    facts: yesOrNo(
      'Whether facts from earlier that fit the question are told, and the model is offered tools to keep and to forget some.',
    ),
    scope: word(
      ['conversation', 'user'],
      'Whose these memories are: one conversation’s, or all that one user has.',
    ),
    tokens: number(1, MOST, 'So many tokens they may have together.'),
  },
  budget: {
    window: limit(
      1,
      MOST,
      'What the model can take, in tokens, if the table does not know better.',
    ),
    reserve: limit(
      0,
      MOST,
      'What is left free for the answer; otherwise the limit that the request sets.',
    ),
    overflow: word(
      ['auto', 'cut', 'refuse', 'send'],
      'What becomes of a request that is too long for the model: the oldest turns are left out, it is refused, or sent nevertheless. `auto` is as `truncation` of a Responses request says; a chat request, which has no such word, is sent.',
    ),
    warnAt: {
      read: (value, path) => (value === null ? null : asDecimalIn(0, 1)(value, path)),
      what: 'number up to 1, or null',
      sentence:
        'From which share of the window on, as the provider counts, a model at work with tools is told to finish.',
    },
    wrapUp: number(
      0,
      1000,
      'How many more steps it then has; afterwards it is asked without tools.',
    ),
  },
}

/** A name alone is a policy. */
export function readWishes(value: unknown, path: string): Wishes {
  if (typeof value === 'string') return { policy: asPolicy(value, path) }
  const said = asObject(value, path)
  const sections = Object.entries(said).flatMap(([section, raw]): readonly Entry[] => {
    if (raw === null || raw === undefined) return []
    const place = `${path}.${section}`
    if (section === 'policy') return [['policy', asPolicy(raw, place)]]
    const table = Object.hasOwn(FIELDS, section) ? FIELDS[section] : undefined
    if (table === undefined) throw unknownField(place, ['policy', ...Object.keys(FIELDS)])
    return [[section, readSection(table, asObject(raw, place), place)]]
  })
  return Object.fromEntries(sections)
}

type Entry = readonly [string, unknown]

const asPolicy = (value: unknown, path: string): PolicyName =>
  asOneOf(POLICY_NAMES)(asString(value, path), path)

type Fields = Readonly<Record<string, Field<unknown>>>

const FIELDS: Readonly<Record<string, Fields>> = WISHES

function readSection(fields: Fields, said: JsonObject, path: string): JsonObject {
  const values = Object.entries(said).flatMap(([written, raw]): readonly Entry[] => {
    if (raw === undefined) return []
    const place = `${path}.${written}`
    const known = Object.keys(fields).find((field) => inJson(field) === written)
    const field = known === undefined ? undefined : fields[known]
    if (known === undefined || field === undefined) {
      throw unknownField(place, Object.keys(fields).map(inJson))
    }
    return [[known, field.read(raw, place)]]
  })
  return Object.fromEntries(values) as JsonObject
}

/** As they would be written in a request. */
export function writtenWishes(wishes: Wishes): JsonObject {
  return Object.fromEntries(
    Object.entries(wishes).map(([section, said]) => [
      section,
      isObject(said)
        ? Object.fromEntries(Object.entries(said).map(([field, value]) => [inJson(field), value]))
        : said,
    ]),
  ) as JsonObject
}

/** `keepTurns` is written `keep_turns`. */
export function inJson(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function unknownField(path: string, known: readonly string[]): GatewayError {
  return new GatewayError(
    'unknown_parameter',
    `Unknown parameter: '${path}'. Known here are: ${known.map((field) => `'${field}'`).join(', ')}.`,
    { param: path },
  )
}

function limit(least: number, most: number, sentence: string): Field<number | null> {
  const read = asIntegerIn(least, most)
  return {
    read: (value, path) => (value === null ? null : read(value, path)),
    what: `number from ${least}, or null`,
    sentence,
  }
}

function number(least: number, most: number, sentence: string): Field<number> {
  return { read: asIntegerIn(least, most), what: `number from ${least}`, sentence }
}

function word<Word extends string>(words: readonly Word[], sentence: string): Field<Word> {
  return {
    read: (value, path) => asOneOf(words)(asString(value, path), path),
    what: words.map((each) => `\`${each}\``).join(', '),
    sentence,
  }
}

function yesOrNo(sentence: string): Field<boolean> {
  return { read: asBoolean, what: '`true`, `false`', sentence }
}

function name(sentence: string): Field<string | null> {
  return { read: (value, path) => maybe(asWords, value, path), what: 'text, or null', sentence }
}

function names(sentence: string): Field<readonly string[]> {
  return {
    read: (value, path) => asList(value, path).map((entry, at) => asWords(entry, `${path}[${at}]`)),
    what: 'list of texts',
    sentence,
  }
}

/** As far as there are messages; deeper is before the first of them. */
const asDepth = asIntegerIn(0, 1_000_000)
const NOTE_FIELDS = ['text', 'depth', 'role']
const asNoteRole = asOneOf(['developer', 'user'])

function readNotes(value: unknown, path: string): readonly ContextNote[] {
  return asList(value, path).map((entry, at) => {
    const place = `${path}[${at}]`
    const note = asObject(entry, place)
    const other = Object.keys(note).find((field) => !NOTE_FIELDS.includes(field))
    if (other !== undefined) throw unknownField(`${place}.${other}`, NOTE_FIELDS)
    if (note['text'] === undefined) throw missing(`${place}.text`)
    const role = maybe(asString, note['role'], `${place}.role`)
    return {
      text: asString(note['text'], `${place}.text`),
      depth: maybe(asDepth, note['depth'], `${place}.depth`) ?? 0,
      role: role === null ? 'developer' : asNoteRole(role, `${place}.role`),
    }
  })
}
