/** The table of all policy fields that a setting, a conversation or a request can override. */
import type { PolicyText, ContextPolicy } from '../../core/context-policy.ts'
import {
  asListOf,
  asObjectWith,
  asOneOf,
  asString,
  createMissingFieldError,
} from '../checks/check-json-types.ts'
import { asDecimalBetween, asIntegerBetween } from '../checks/check-value-limits.ts'
import { checkWorkingMemorySchema } from './check-working-memory-schema.ts'
import {
  asNullable,
  booleanField,
  choiceField,
  countField,
  countLimitField,
  MAX_POLICY_SIZE,
  numberField,
  sizeField,
  sizeLimitField,
  textField,
  textListField,
  type PolicyField,
} from './field-kinds.ts'

type PolicyFieldTable = {
  readonly [Section in Exclude<keyof ContextPolicy, 'policy'>]: {
    readonly [Name in keyof ContextPolicy[Section]]: PolicyField<ContextPolicy[Section][Name]>
  }
}

/**
 * The policy fields by section. In JSON these names have underscores: `keepTurns` → `keep_turns`.
 */
export const POLICY_FIELDS: PolicyFieldTable = {
  window: {
    items: countLimitField(1, 'Maximum number of items of the conversation that are sent.'),
    turns: countLimitField(
      1,
      'Maximum number of turns that are sent. A turn is a user message and everything up to the next one; `1` sends the current turn only.',
    ),
    tokens: sizeLimitField(
      1,
      'Maximum number of tokens of the conversation that are sent. They are estimated before old outputs are shortened.',
    ),
  },
  outputs: {
    keepTurns: countLimitField(
      0,
      'Long tool outputs are shortened when they are more than this many turns old, with `0` as soon as their turn is over, where that saves costs. A late cut rarely pays: with `5`, most outputs stay complete for some forty turns.',
    ),
    step: countField(
      1,
      'The limit between old and recent turns moves by this many turns at a time, so that the prompt cache stays valid between two steps.',
    ),
    longerThan: sizeField(
      1,
      'Only outputs with more characters than this are shortened, and only if they are longer than `head` and `tail` together. If an output has several texts, each is measured and shortened by itself. If all three are set, this must be more than `head` and `tail` together.',
    ),
    head: sizeField(0, 'Number of characters that a shortened output keeps of its beginning.'),
    tail: sizeField(0, 'Number of characters that a shortened output keeps of its end.'),
    cap: sizeLimitField(
      200,
      'Outputs longer than this many characters are cut from the first request on, and are never sent in full.',
    ),
    expand: booleanField(
      'Whether the model gets a tool (`expand_output`) that reads the removed part of an output.',
    ),
  },
  reasoning: {
    keep: choiceField(
      ['conversation', 'next_reply', 'open_turn'],
      'How long reasoning is sent back to the model: always (`conversation`), until the next reply is complete (`next_reply`), or while its own turn is open (`open_turn`). After that, `next_reply` always drops it, and `open_turn` drops it where that saves costs, as for `outputs.keep_turns`.',
    ),
  },
  media: {
    window: countLimitField(
      0,
      'Images and other media are sent only in this many of the latest messages.',
    ),
    keepTurns: countLimitField(
      0,
      'Number of turns before the current one that keep their images. Removing older images costs once, because the provider reads everything after them without its cache; each later request saves their cached price. They are removed only where that saves costs, as for `outputs.keep_turns`.',
    ),
    step: countField(
      1,
      'The decision whether to remove older images is made again after this many turns.',
    ),
    imageMessages: countLimitField(
      0,
      'Images are sent only in this many of the latest messages that contain images.',
    ),
    images: countLimitField(
      0,
      'Maximum number of images in a request. If there are more, the oldest are removed, half of this number at a time.',
    ),
    repeated: choiceField(
      ['last', 'all'],
      'Whether an image that occurs several times is sent at its last position only, or at all of them.',
    ),
    reuse: choiceField(
      ['user_turn_only', 'user_then_assistant'],
      'Whether images from messages of the assistant are also sent if the latest user message has none (`user_then_assistant`).',
    ),
    bytes: sizeLimitField(1, 'Maximum number of bytes of media in one request.'),
    fetch: choiceField(
      ['auto', 'never'],
      'Whether the gateway downloads media for an upstream that cannot load them itself.',
    ),
    view: booleanField(
      'Whether the model gets a tool with which it can view media that were left out.',
    ),
  },
  cuts: {
    minChars: sizeField(
      0,
      'Number of characters of the conversation that a cut of outputs, reasoning or images must leave. Providers cache no short prompts, so cutting a short conversation can cost more than sending it. `0` suits upstreams that cache prompts of any length.',
    ),
  },
  notes: {
    entries: {
      read: asListOf(readPolicyText),
      accepts: 'a list of `{"text", "depth", "role"}`',
      description:
        'Texts that are inserted before the last `depth` messages, with the role `developer` (default) or `user`. Their position moves with every message, so nothing after the first of them is read from the prompt cache, and an upstream that checks prefixes loses the reasoning of earlier turns. A `depth` larger than the conversation puts the text at its beginning and has no such cost.',
    },
    mode: choiceField(
      ['add', 'replace'],
      'Whether the entries are added to those of less specific overrides (e.g. the setting `CONTEXT`), or replace them.',
    ),
  },
  speakers: {
    names: choiceField(
      ['auto', 'prefix', 'name', 'none'],
      'How the model sees the author of a message: before the text (`prefix`), in the field `name` where the API of the upstream has one, whichever fits (`auto`), or not at all.',
    ),
    hidden: textListField(
      'Authors, by id or name, whose messages are replaced with a placeholder.',
    ),
    merge: choiceField(
      ['off', 'same_author'],
      'Whether consecutive text messages of one author are merged into one.',
    ),
    persona: textField(
      'Name of the assistant that the model speaks as. Messages of other assistants are sent as messages of other speakers.',
    ),
    actAs: textField(
      'Author whose part the model takes over: messages of this author are sent as messages of the assistant.',
    ),
  },
  summaries: {
    trigger: choiceField(
      ['off', 'tokens', 'turns', 'manual'],
      'What triggers a summary: the number of tokens, the number of turns, or only a request for one (`manual`).',
    ),
    by: choiceField(
      ['gateway', 'upstream'],
      'Who writes summaries. With `upstream`, an upstream that can compact conversations does so itself when there are too many tokens; of the fields below it uses only `above`. For all other upstreams the gateway writes them.',
    ),
    above: {
      read: asDecimalBetween(0, MAX_POLICY_SIZE),
      accepts: 'number',
      description:
        'Threshold in tokens, at least 1000, or up to `1` as a share of the context window; with the trigger `turns`, in turns (32 if it is less than 1). A first summary must replace at least an eighth of the threshold. A later one must add at least 500 tokens, an eighth of the threshold and an eighth of what remains after it. With the trigger `turns`, a later one must add the smaller of `keep_turns` and the threshold, but at least 2 turns.',
    },
    keepTurns: countField(1, 'Number of the latest turns that are never summarized.'),
    keepTokens: sizeField(
      0,
      'Number of tokens at the end of the conversation that are never summarized.',
    ),
    model: textField('Model that writes summaries; by default the model of the request.'),
    focus: textField('The topics that a summary should concentrate on, as a text for the model.'),
  },
  layers: {
    workingMemory: booleanField(
      'Whether the model has a working memory: a text beside the conversation that it writes itself.',
    ),
    schema: {
      read: asNullable(checkWorkingMemorySchema),
      accepts: 'JSON Schema without references and patterns, or null',
      description:
        'Schema of the working memory. A text that does not match is not stored, and the model gets the reason.',
    },
    observations: booleanField(
      'Whether the gateway summarizes what it observes over time, and adds that to the prompt.',
    ),
    facts: booleanField(
      'Whether stored facts that fit the question are added to the prompt, and the model gets tools to save and delete facts.',
    ),
    scope: choiceField(
      ['conversation', 'user'],
      'Whether working memory, observations and facts belong to one conversation, or to a user and all their conversations.',
    ),
    tokens: sizeField(
      1,
      'Maximum number of tokens of working memory, observations and facts together.',
    ),
  },
  budget: {
    window: sizeLimitField(
      1,
      'Context window of the model, in tokens. It takes precedence over `quirks.contextWindow` and over the built-in list of models.',
    ),
    reserve: sizeLimitField(
      0,
      'Number of tokens that stay free for the answer; by default the limit that the request sets, or else 4096. It must be less than a `window` that is set with it. A reserve that is not less than a window set elsewhere counts as half of that window.',
    ),
    overflow: choiceField(
      ['auto', 'cut', 'refuse', 'send'],
      'What happens to a request that is too long for the model: its oldest turns are left out (`cut`), it is rejected (`refuse`), or it is sent as it is (`send`). `auto` follows `truncation` of a Responses request. A chat request has no such field: it is sent, unless its latest input alone is certainly too long.',
    ),
    warnAt: {
      read: asNullable(asDecimalBetween(0, 1)),
      accepts: 'number up to 1, or null',
      description:
        'Share of the context window, e.g. `0.8`, from which on a model that is calling tools is asked to finish. Tokens are counted by the provider. With `0`, the model is never asked.',
    },
    wrapUp: numberField(
      0,
      1000,
      'Number of tool steps that the model may still take after it was asked to finish (`warn_at`). After them, it may call no more tools.',
    ),
  },
}

const asPolicyTextFields = asObjectWith({
  text: asString,
  // If the depth is greater than the number of messages, the text is inserted before the first
  // message.
  depth: asIntegerBetween(0, 1_000_000),
  role: asOneOf(['developer', 'user']),
})

function readPolicyText(value: unknown, path: string): PolicyText {
  const { text, depth = 0, role = 'developer' } = asPolicyTextFields(value, path)
  if (text === undefined) throw createMissingFieldError(`${path}.text`)
  return { text, depth, role }
}
