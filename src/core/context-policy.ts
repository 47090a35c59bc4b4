/**
 * Defines context policies: how much of a conversation a model is sent, and in what form. A policy
 * is a preset whose fields can be overridden, in this order: by the setting for all models, for one
 * model, for an API key, for a conversation, and by the request. Null switches a rule off.
 *
 * Fields named `turns` count rounds. A round is a user message and everything up to the next one.
 */
import type { JsonObject } from './json/json.ts'

export const POLICY_NAMES = ['replay', 'retain', 'lean', 'capped'] as const

export type PolicyName = (typeof POLICY_NAMES)[number]

export interface ContextPolicy {
  readonly policy: PolicyName
  readonly window: WindowRules
  readonly outputs: OutputRules
  readonly reasoning: ReasoningRules
  readonly media: MediaRules
  readonly cuts: CutRules
  readonly notes: PolicyTextRules
  readonly speakers: SpeakerRules
  readonly summaries: SummaryRules
  readonly layers: LayerRules
  readonly budget: BudgetRules
}

/**
 * Maximum number of items, rounds and tokens from the end of the conversation. Complete rounds are
 * dropped, several at a time.
 */
export interface WindowRules {
  readonly items: number | null
  readonly turns: number | null
  readonly tokens: number | null
}

/** Rules for shortening long tool outputs. */
export interface OutputRules {
  /**
   * Outputs of this many rounds before the current one stay complete; with 0, only those of the
   * current round. Older ones are shortened where that saves costs.
   */
  readonly keepTurns: number | null
  /** Number of rounds by which the cutoff between old and recent rounds moves at once. */
  readonly step: number
  /** Outputs of at most this many characters always stay complete, e.g. 800. */
  readonly longerThan: number
  readonly head: number
  readonly tail: number
  /** Number of characters above which even a new output is cut before the model first sees it, e.g. 4000. */
  readonly cap: number | null
  /** True if the model is offered a tool that reads the removed part of an output. */
  readonly expand: boolean
}

export interface ReasoningRules {
  /**
   * Period in which reasoning is sent back; `open_turn` ends with the round in which the model wrote it. Reasoning is then
   * dropped: with `open_turn` where that saves costs, with `next_reply` always.
   */
  readonly keep: 'conversation' | 'next_reply' | 'open_turn'
}

export interface MediaRules {
  /** Media of any kind are sent only in the latest messages, e.g. in the latest 6 to 10 with `window: 10`. */
  readonly window: number | null
  /**
   * Images of this many rounds before the current one are always sent. Older images are dropped where
   * that saves costs.
   */
  readonly keepTurns: number | null
  /** Number of rounds between two decisions about older images, e.g. 20: decided in rounds 20, 40 and 60. */
  readonly step: number
  /** Number of messages with images, counted from the end, whose images are sent. */
  readonly imageMessages: number | null
  /** Max number of images in one request. */
  readonly images: number | null
  /** With `last`, an image that occurs several times is sent only at its last position. */
  readonly repeated: 'last' | 'all'
  /** With `user_then_assistant`, images of the last answer are sent with a user message that has none. */
  readonly reuse: 'user_turn_only' | 'user_then_assistant'
  /** Max bytes of media per request. */
  readonly bytes: number | null
  /** With `auto`, the gateway downloads media that the upstream cannot download itself. */
  readonly fetch: 'auto' | 'never'
  /** True if the model is offered a tool that shows hidden media. */
  readonly view: boolean
}

/** Rules for all cuts that are made where they save costs: of outputs, reasoning and images. */
export interface CutRules {
  /** Nothing is cut that would leave fewer characters of the conversation than this. */
  readonly minChars: number
}

export interface PolicyTextRules {
  readonly entries: readonly PolicyText[]
  /** With `replace`, the texts of earlier overrides, e.g. of the setting, are dropped; with `add`, they stay. */
  readonly mode: 'add' | 'replace'
}

/** A text of the operator or the client that is inserted at a fixed distance from the end of the conversation. */
export interface PolicyText {
  readonly text: string
  /** Number of messages after the text; with `depth: 0` the text is the last message. */
  readonly depth: number
  readonly role: 'developer' | 'user'
}

export interface SpeakerRules {
  /** Place of an author's name: before the message's text, in the API's `name` field, or none. */
  readonly names: 'auto' | 'prefix' | 'name' | 'none'
  /** Ids or names of authors, e.g. `u7`, whose messages are replaced by a placeholder. */
  readonly hidden: readonly string[]
  /** With `same_author`, consecutive messages of one author are joined. */
  readonly merge: 'off' | 'same_author'
  /** The model's author name; messages of assistants with other names are sent as user messages. */
  readonly persona: string | null
  /** Name of an author whose messages are sent as the model's own. */
  readonly actAs: string | null
}

export interface SummaryRules {
  readonly trigger: 'off' | 'tokens' | 'turns' | 'manual'
  /** With `upstream`, the upstream makes a compaction if it supports that; otherwise the gateway writes a summary. */
  readonly by: 'gateway' | 'upstream'
  /** Threshold: tokens, a share of the context window up to 1 (e.g. `0.64`), or rounds if `trigger` is `turns`. */
  readonly above: number
  readonly keepTurns: number
  readonly keepTokens: number
  /** Model that writes the summary; null means the model of the request. */
  readonly model: string | null
  /** Topic that a summary should cover first. */
  readonly focus: string | null
}

/** Memory layers, i.e. texts beside the conversation: which ones are sent, and how much of them. */
export interface LayerRules {
  readonly workingMemory: boolean
  /** JSON Schema that working memory must match. */
  readonly schema: JsonObject | null
  readonly observations: boolean
  readonly facts: boolean
  /** With `conversation`, each conversation has its own layers; with `user`, all conversations of a user share them. */
  readonly scope: 'conversation' | 'user'
  readonly tokens: number
}

export interface BudgetRules {
  /** Context window in tokens, e.g. 128,000; overrides the built-in model table. */
  readonly window: number | null
  /** Tokens reserved for the answer; null means the request's own output limit. */
  readonly reserve: number | null
  /** Handling of a request that exceeds the window; with `auto`, the request's field `truncation` decides. */
  readonly overflow: 'auto' | 'cut' | 'refuse' | 'send'
  /** Share of the context window, e.g. `0.8`, above which a model that calls tools is warned to finish. */
  readonly warnAt: number | null
  /** Number of tool rounds after the warning before the tools are removed. */
  readonly wrapUp: number
}

/** The policy fields that one setting, conversation or request sets. */
export type PolicyOverrides = {
  readonly [Section in keyof ContextPolicy]?: ContextPolicy[Section] extends object
    ? Partial<ContextPolicy[Section]>
    : ContextPolicy[Section]
}

/** The preset that sends everything. */
const REPLAY: ContextPolicy = {
  policy: 'replay',
  window: { items: null, turns: null, tokens: null },
  outputs: {
    keepTurns: null,
    step: 5,
    longerThan: 800,
    head: 256,
    tail: 128,
    cap: null,
    expand: false,
  },
  reasoning: { keep: 'conversation' },
  media: {
    window: null,
    keepTurns: null,
    step: 20,
    imageMessages: null,
    images: null,
    repeated: 'all',
    reuse: 'user_turn_only',
    bytes: null,
    fetch: 'auto',
    view: false,
  },
  // Some models cache only prompts of 4,096 tokens or more, and English prose has up to five characters per token.
  cuts: { minChars: 20_000 },
  notes: { entries: [], mode: 'add' },
  speakers: { names: 'auto', hidden: [], merge: 'off', persona: null, actAs: null },
  summaries: {
    trigger: 'off',
    by: 'gateway',
    above: 0.64,
    keepTurns: 4,
    keepTokens: 4000,
    model: null,
    focus: null,
  },
  layers: {
    workingMemory: false,
    schema: null,
    observations: false,
    facts: false,
    scope: 'conversation',
    tokens: 2000,
  },
  budget: { window: null, reserve: null, overflow: 'auto', warnAt: null, wrapUp: 2 },
}

const MEDIA_RULES: MediaRules = {
  ...REPLAY.media,
  keepTurns: 5,
  // Max number of images per request, because some providers reject more than 100.
  images: 100,
  reuse: 'user_then_assistant',
}

export const PRESETS: Readonly<Record<PolicyName, ContextPolicy>> = {
  replay: REPLAY,
  retain: {
    ...REPLAY,
    policy: 'retain',
    // Outputs are shortened directly after their round: a later cut costs more than it saves for many rounds.
    outputs: { ...REPLAY.outputs, keepTurns: 0, step: 1 },
    media: MEDIA_RULES,
  },
  lean: {
    ...REPLAY,
    policy: 'lean',
    outputs: { ...REPLAY.outputs, keepTurns: 0, step: 1 },
    reasoning: { keep: 'open_turn' },
    media: MEDIA_RULES,
  },
  capped: {
    ...REPLAY,
    policy: 'capped',
    outputs: { ...REPLAY.outputs, cap: 4000, expand: true },
    media: MEDIA_RULES,
  },
}

/** The sections that a preset defines. An override that names a preset resets only these. */
const PRESET_SECTIONS = ['policy', 'window', 'outputs', 'reasoning', 'media'] as const

/** Applies all overrides, in order, to the preset `retain`. */
export function resolvePolicy(allOverrides: readonly (PolicyOverrides | null)[]): ContextPolicy {
  return allOverrides.reduce<ContextPolicy>(
    (policy, overrides) => (overrides === null ? policy : applyOverrides(policy, overrides)),
    PRESETS.retain,
  )
}

function applyOverrides(policy: ContextPolicy, overrides: PolicyOverrides): ContextPolicy {
  const { policy: preset, notes, ...sections } = overrides
  const base = preset === undefined ? policy : applyPreset(policy, preset)
  const merged = Object.entries(sections).map(([section, fields]) => {
    return [section, { ...base[section as keyof typeof sections], ...fields }]
  })
  return {
    ...base,
    ...(Object.fromEntries(merged) as Partial<ContextPolicy>),
    notes: mergeTexts(base.notes, notes),
  }
}

function applyPreset(policy: ContextPolicy, name: PolicyName): ContextPolicy {
  const preset = PRESETS[name]
  if (policy === preset) return policy
  return PRESET_SECTIONS.reduce((result, name) => ({ ...result, [name]: preset[name] }), policy)
}

function mergeTexts(
  rules: PolicyTextRules,
  fields: Partial<PolicyTextRules> | undefined,
): PolicyTextRules {
  if (fields === undefined) return rules
  const { entries = [], mode = rules.mode } = fields
  return { mode, entries: mode === 'replace' ? entries : [...rules.entries, ...entries] }
}
