/**
 * Defines context policies: how much of a conversation a model is sent, and in what form. A policy
 * is a preset whose fields can be overridden, in this order: by the setting for all models, for one
 * model, for an API key, for a conversation, and by the request.
 *
 * Null switches a rule off. `turns` in this file are rounds: a user message and everything up to the
 * next one.
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
  readonly notes: PolicyTextRules
  readonly speakers: SpeakerRules
  readonly summaries: SummaryRules
  readonly layers: LayerRules
  readonly budget: BudgetRules
}

/** Upper limits for the conversation, counted from its end. Only complete turns are dropped, several at a time. */
export interface WindowRules {
  readonly items: number | null
  readonly turns: number | null
  readonly tokens: number | null
}

/** Limits for long tool outputs. */
export interface OutputRules {
  /**
   * Outputs of this many turns before the current one stay complete; with 0 only those of the current
   * turn. For example, `keepTurns: 5, step: 10` keeps 5 to 14 turns.
   */
  readonly keepTurns: number | null
  /** The cutoff between old and recent turns moves this many turns at once. */
  readonly step: number
  /** Outputs with fewer characters stay complete. */
  readonly longerThan: number
  readonly head: number
  readonly tail: number
  /** Outputs with more characters are cut before the model first sees them, and stay cut. */
  readonly cap: number | null
  /** True if the model is offered a tool that reads the removed part of an output. */
  readonly expand: boolean
}

export interface ReasoningRules {
  /** `open_turn` keeps reasoning until the end of the turn in which the model wrote it. */
  readonly keep: 'conversation' | 'next_reply' | 'open_turn'
}

export interface MediaRules {
  /** Media of any kind are sent only in the latest N messages, with or without media; 10 → 6 to 10 messages. */
  readonly window: number | null
  /**
   * Images of the last N turns before the current one are always sent. Older ones are dropped when that
   * costs less than keeping them.
   */
  readonly keepTurns: number | null
  /** The cost of dropping older images is checked every so many turns, e.g. at turns 20, 40 and 60. */
  readonly step: number
  /** Images are sent only in the latest N of those messages that contain an image. */
  readonly imageMessages: number | null
  /** Max number of images in one request, however many messages contain them. */
  readonly images: number | null
  /** `last` shows a repeated image only at its last position. */
  readonly repeated: 'last' | 'all'
  /** `user_then_assistant` shows images from the assistant's last answer if the user message has none. */
  readonly reuse: 'user_turn_only' | 'user_then_assistant'
  /** Max bytes of media per request. */
  readonly bytes: number | null
  /** `auto` lets the gateway download media that the upstream cannot download itself. */
  readonly fetch: 'auto' | 'never'
  /** True if the model is offered a tool that shows hidden media. */
  readonly view: boolean
}

export interface PolicyTextRules {
  readonly entries: readonly PolicyText[]
  /** `add` keeps texts of earlier overrides; `replace` drops them. */
  readonly mode: 'add' | 'replace'
}

/** A text of the operator or the client that is inserted at a fixed distance from the end. */
export interface PolicyText {
  readonly text: string
  /** Number of messages after the text; with `depth: 0` it is the last message. */
  readonly depth: number
  readonly role: 'developer' | 'user'
}

export interface SpeakerRules {
  /** Way to send the author of a message: in its text, in the wire's `name` field, or not at all. */
  readonly names: 'auto' | 'prefix' | 'name' | 'none'
  /** Ids or names of authors, e.g. `u7`, whose messages are replaced by a placeholder. */
  readonly hidden: readonly string[]
  /** `same_author` joins consecutive messages of one author into one. */
  readonly merge: 'off' | 'same_author'
  /** The author name of the model; messages of assistants with other names become user messages. */
  readonly persona: string | null
  /** Name of an author whose messages become the model's own. */
  readonly actAs: string | null
}

export interface SummaryRules {
  readonly trigger: 'off' | 'tokens' | 'turns' | 'manual'
  /** `upstream` leaves compaction to upstreams that support it; all others get a summary by the gateway. */
  readonly by: 'gateway' | 'upstream'
  /** Threshold: tokens, a share of the context window up to 1 (e.g. `0.64`), or turns if `trigger` is `turns`. */
  readonly above: number
  readonly keepTurns: number
  readonly keepTokens: number
  /** Model that writes summaries; null means the model of the request. */
  readonly model: string | null
  /** Topic that a summary should cover first. */
  readonly focus: string | null
}

/** Memory layers: text that is sent along with the conversation. */
export interface LayerRules {
  readonly workingMemory: boolean
  /** JSON Schema that working memory must match. */
  readonly schema: JsonObject | null
  readonly observations: boolean
  readonly facts: boolean
  /** Owner of the stored layers: one conversation, or all conversations of a user. */
  readonly scope: 'conversation' | 'user'
  readonly tokens: number
}

export interface BudgetRules {
  /** Context window in tokens, e.g. 128,000; overrides the built-in model table. */
  readonly window: number | null
  /** Tokens reserved for the answer; null means the request's own output limit. */
  readonly reserve: number | null
  /** Handling of a request that is too long; `auto` follows the request's `truncation` field. */
  readonly overflow: 'auto' | 'cut' | 'refuse' | 'send'
  /** Share of the window above which the gateway warns a model in tool rounds to finish, e.g. `0.8`. */
  readonly warnAt: number | null
  /** Number of tool rounds after that warning before the tools are removed. */
  readonly wrapUp: number
}

/** Policy fields set by one setting, conversation or request. */
export type PolicyOverrides = {
  readonly [Section in keyof ContextPolicy]?: ContextPolicy[Section] extends object
    ? Partial<ContextPolicy[Section]>
    : ContextPolicy[Section]
}

/** Sends everything. */
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

const MEDIA: MediaRules = {
  ...REPLAY.media,
  keepTurns: 5,
  // Some providers reject requests with more than 100 images.
  images: 100,
  reuse: 'user_then_assistant',
}

export const PRESETS: Readonly<Record<PolicyName, ContextPolicy>> = {
  replay: REPLAY,
  retain: {
    ...REPLAY,
    policy: 'retain',
    // The cutoff moves 10 turns at a time, so 5 to 14 recent turns keep their full outputs.
    outputs: { ...REPLAY.outputs, keepTurns: 5, step: 10 },
    media: MEDIA,
  },
  lean: {
    ...REPLAY,
    policy: 'lean',
    outputs: { ...REPLAY.outputs, keepTurns: 0, step: 1 },
    reasoning: { keep: 'open_turn' },
    media: MEDIA,
  },
  capped: {
    ...REPLAY,
    policy: 'capped',
    outputs: { ...REPLAY.outputs, cap: 4000, expand: true },
    media: MEDIA,
  },
}

/** Sections that a preset defines. Naming another preset resets them and leaves all others unchanged. */
const PRESET_SECTIONS = ['policy', 'window', 'outputs', 'reasoning', 'media'] as const

/** Applies all overrides to the preset `retain`; later ones win. */
export function resolvePolicy(allOverrides: readonly (PolicyOverrides | null)[]): ContextPolicy {
  return allOverrides.reduce<ContextPolicy>(
    (policy, overrides) => (overrides === null ? policy : applyOverrides(policy, overrides)),
    PRESETS.retain,
  )
}

function applyOverrides(policy: ContextPolicy, overrides: PolicyOverrides): ContextPolicy {
  const { policy: preset, ...sections } = overrides
  const base = preset === undefined ? policy : applyPreset(policy, preset)
  if (Object.keys(sections).length === 0) return base
  const { window, outputs, reasoning, media, notes, speakers, summaries, layers, budget } = sections
  return {
    policy: base.policy,
    window: mergeRules(base.window, window),
    outputs: mergeRules(base.outputs, outputs),
    reasoning: mergeRules(base.reasoning, reasoning),
    media: mergeRules(base.media, media),
    notes: mergeTexts(base.notes, notes),
    speakers: mergeRules(base.speakers, speakers),
    summaries: mergeRules(base.summaries, summaries),
    layers: mergeRules(base.layers, layers),
    budget: mergeRules(base.budget, budget),
  }
}

function mergeRules<Rules extends object>(rules: Rules, fields: Partial<Rules> | undefined): Rules {
  return fields === undefined ? rules : { ...rules, ...fields }
}

function applyPreset(policy: ContextPolicy, name: PolicyName): ContextPolicy {
  const preset = PRESETS[name]
  if (policy === preset) return policy
  return PRESET_SECTIONS.reduce((result, part) => ({ ...result, [part]: preset[part] }), policy)
}

function mergeTexts(
  rules: PolicyTextRules,
  fields: Partial<PolicyTextRules> | undefined,
): PolicyTextRules {
  if (fields === undefined) return rules
  const { entries = [], mode = rules.mode } = fields
  return { mode, entries: mode === 'replace' ? entries : [...rules.entries, ...entries] }
}
