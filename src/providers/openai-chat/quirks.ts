/**
 * How services that speak Chat Completions differ. An account picks a set of these with
 * `quirks.profile`, and overrides any of it by naming the quirk beside it.
 *
 * Where a quirk is not set, a client that speaks chat itself gets its own way, and what is
 * translated from another language takes the form that the most services accept. A value that makes
 * no sense is passed over here, so that no request fails on it.
 */
import { textOrEmpty, type JsonObject } from '../../core/json/json.ts'
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import type { Account } from '../provider-interface.ts'
import {
  countQuirk,
  flagQuirk,
  listQuirk,
  choiceQuirk,
  patternQuirk,
  textQuirk,
  type QuirkTable,
  type QuirkValue,
} from '../quirks/quirk-value-kinds.ts'
import { KNOWN_SERVICE_QUIRKS } from './known-service-quirks.ts'

const CHAT_QUIRKS = {
  allowedTools: flagQuirk(
    'Knows `allowed_tools`; otherwise the other tools are left out of the request.',
  ),
  callIdPattern: patternQuirk(
    "What a call's id must look like; one that does not becomes nine letters and digits.",
  ),
  customTools: flagQuirk(
    'Knows tools with free text as input; otherwise they become functions with one parameter.',
  ),
  developerRole: flagQuirk('Takes the role `developer`; otherwise such messages become `system`.'),
  effortField: choiceQuirk(
    ['reasoning_effort', 'reasoning', 'none'],
    '`reasoning` stands for `reasoning: { effort }`. `none`: there is no such setting.',
  ),
  keyHeader: choiceQuirk(
    ['authorization', 'api-key'],
    'The header that carries the key: `authorization` as a bearer token, `api-key` bare.',
  ),
  maxStops: countQuirk(
    'As many stop sequences are sent; the gateway ends the answer at the others itself.',
  ),
  maxTokensField: choiceQuirk(
    ['max_completion_tokens', 'max_tokens'],
    'What the limit of an answer is called.',
  ),
  messageNames: flagQuirk("Takes a message's `name`."),
  prefixCompletion: flagQuirk(
    '`true`: a last message of the assistant is marked `prefix: true`, to be gone on with. `false`: it is refused as the last message, so that the user asks for the continuation.',
  ),
  query: textQuirk('Put behind the path, as in `api-version=2024-10-21`.'),
  reasoningDemanded: flagQuirk(
    'Refuses calls without the reasoning in front of them. Where it is not known, it is sent empty.',
  ),
  reasoningField: choiceQuirk(
    ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking-part', 'none'],
    'The field that reasoning goes back in. `none`: reasoning is not sent.',
  ),
  reasoningOn: choiceQuirk(
    ['all', 'calls'],
    "Which of the assistant's messages reasoning is sent on.",
  ),
  refuses: listQuirk(
    'a list of field names',
    'Fields of a request that are refused, and hence left out.',
  ),
  retell: flagQuirk(
    "Its answers are told anew even to clients that speak chat: it sends what OpenAI's clients cannot read, as calls without an index.",
  ),
  strictAlternation: flagQuirk(
    'User and assistant must take turns, the user first, with system text only in front.',
  ),
  systemRole: flagQuirk(
    'Takes the role `system`; otherwise instructions become the first user turn.',
  ),
  thinkTags: choiceQuirk(
    [true, 'unopened'],
    'Thinking comes as `<think>…</think>` in the text; `unopened`: without the opening tag.',
  ),
  toolMedia: flagQuirk("Takes images in a tool's output; otherwise they follow in a user message."),
  userAfterTool: flagQuirk("Takes a user message directly behind a tool's output."),
}

export type ChatQuirks = {
  readonly [Name in keyof typeof CHAT_QUIRKS]?: QuirkValue<(typeof CHAT_QUIRKS)[Name]>
}

export const QUIRKS: QuirkTable = {
  profile: choiceQuirk(
    Object.keys(KNOWN_SERVICE_QUIRKS),
    'A set of these quirks, for a service that is well known.',
  ),
  ...CHAT_QUIRKS,
}

/** As a request asks for them several times, they are read once for each account. */
export function readChatQuirks({ quirks }: Account): ChatQuirks {
  return parseQuirksOnce(quirks)
}

const parseQuirksOnce = cachePerObject(parseQuirks)

function parseQuirks(quirks: JsonObject): ChatQuirks {
  const set: Record<string, unknown> = { ...KNOWN_SERVICE_QUIRKS[textOrEmpty(quirks['profile'])] }
  for (const [name, value] of Object.entries(quirks)) {
    const read = Object.hasOwn(CHAT_QUIRKS, name)
      ? CHAT_QUIRKS[name as keyof ChatQuirks].read(value)
      : undefined
    if (read !== undefined) set[name] = read
  }
  return set
}
