/**
 * How much of a conversation a model is given, and in what form. A policy is a preset, by name, of
 * which each number can be set otherwise. Wishes are what somebody says of it: the settings, those
 * for a model, for a key, for a conversation, and the request itself, each going before the one in
 * front of it.
 *
 * `null` switches a rule off.
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

/** How much of it, counted from the newest: whole turns, cut in steps. */
export interface WindowRules {
  readonly items: number | null
  readonly turns: number | null
  readonly tokens: number | null
}

/** What becomes of long outputs of tools. */
export interface OutputRules {
  /** So many turns before the running one keep them whole; with 0 only that one does. */
  readonly keepTurns: number | null
  /** The border between old and new moves by so many turns at once. */
  readonly step: number
  /** Shorter ones are let alone. */
  readonly longerThan: number
  readonly head: number
  readonly tail: number
  /** Longer ones are cut when they are first seen, and stay like that. */
  readonly cap: number | null
  /** Whether the model is offered a tool to read the rest of what was cut. */
  readonly expand: boolean
}

export interface ReasoningRules {
  /** `open_turn`: while the turn runs in which it was made. */
  readonly keep: 'conversation' | 'next_reply' | 'open_turn'
}

export interface MediaRules {
  /** In how many of the newest messages media are shown. */
  readonly window: number | null
  /** So many turns before the running one keep their images; older ones go where that pays. */
  readonly keepTurns: number | null
  /** Every so many turns it is looked at whether it does. */
  readonly step: number
  /** In how many of the newest messages that have any, images are shown. */
  readonly imageMessages: number | null
  /** How many images are shown in all. */
  readonly images: number | null
  /** Whether an image that comes again is shown where it came last only. */
  readonly repeated: 'last' | 'all'
  /** Whether images in what the assistant has written are shown where the user has none. */
  readonly reuse: 'user_turn_only' | 'user_then_assistant'
  /** How many bytes of media a request may carry. */
  readonly bytes: number | null
  /** Whether the gateway loads what the upstream cannot load by itself. */
  readonly fetch: 'auto' | 'never'
  /** Whether the model is offered a tool to look at what is not shown. */
  readonly view: boolean
}

export interface PolicyTextRules {
  readonly entries: readonly PolicyText[]
  /** Whether they stand beside those that were said before, or in their place. */
  readonly mode: 'add' | 'replace'
}

/** A text of the operator or the client, told at a distance from the end. */
export interface PolicyText {
  readonly text: string
  /** So many messages stand behind it. */
  readonly depth: number
  readonly role: 'developer' | 'user'
}

export interface SpeakerRules {
  /** How the model is told who speaks: in the text, by the wire's `name`, or not at all. */
  readonly names: 'auto' | 'prefix' | 'name' | 'none'
  /** Of whom nothing is shown. */
  readonly hidden: readonly string[]
  /** Whether several messages in a row of one author become one. */
  readonly merge: 'off' | 'same_author'
  /** Whom the model speaks as: what other assistants said is told as said by others. */
  readonly persona: string | null
  /** Whom the model plays instead: what that author said is told as its own. */
  readonly actAs: string | null
}

export interface SummaryRules {
  readonly trigger: 'off' | 'tokens' | 'turns' | 'manual'
  /** Whether an upstream that can sum up what it was sent does so itself, when there are too many tokens. */
  readonly by: 'gateway' | 'upstream'
  /** Tokens, or a share of the context window up to 1; with `turns`, turns. */
  readonly above: number
  readonly keepTurns: number
  readonly keepTokens: number
  /** Who writes them; the model of the request if nobody is named. */
  readonly model: string | null
  /** What they should pay regard to above all. */
  readonly focus: string | null
}

/** What a model is told beside the conversation. */
export interface LayerRules {
  readonly workingMemory: boolean
  /** The JSON Schema that working memory is held to. */
  readonly schema: JsonObject | null
  readonly observations: boolean
  readonly facts: boolean
  /** Whose it is: one conversation's, or everything of one user. */
  readonly scope: 'conversation' | 'user'
  readonly tokens: number
}

export interface BudgetRules {
  /** What the model can take, if somebody knows better than the table. */
  readonly window: number | null
  /** What is left free for the answer; as much as the request allows it if nobody says. */
  readonly reserve: number | null
  /** What becomes of a request that is too long; `auto` is as the request itself says. */
  readonly overflow: 'auto' | 'cut' | 'refuse' | 'send'
  /** From which share of the window on a model at work with tools is told to finish. */
  readonly warnAt: number | null
  /** How many more steps it then has before its tools are taken away. */
  readonly wrapUp: number
}

/** What somebody says of a policy. */
export type PolicyOverrides = {
  readonly [Section in keyof ContextPolicy]?: ContextPolicy[Section] extends object
    ? Partial<ContextPolicy[Section]>
    : ContextPolicy[Section]
}

/** Everything, always. */
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
  // More are refused by some.
  images: 100,
  reuse: 'user_then_assistant',
}

export const PRESETS: Readonly<Record<PolicyName, ContextPolicy>> = {
  replay: REPLAY,
  retain: {
    ...REPLAY,
    policy: 'retain',
    // On the average of a step, ten turns are whole.
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

/** What a preset decides: to name another one puts these as it has them. */
const OF_PRESET = ['policy', 'window', 'outputs', 'reasoning', 'media'] as const

/** The policy that several people's wishes come to, the last one going before all others. */
export function resolvePolicy(wishes: readonly (PolicyOverrides | null)[]): ContextPolicy {
  return wishes.reduce<ContextPolicy>(
    (policy, wish) => (wish === null ? policy : withWishes(policy, wish)),
    PRESETS.retain,
  )
}

function withWishes(before: ContextPolicy, wish: PolicyOverrides): ContextPolicy {
  const from = wish.policy === undefined ? before : fromPreset(before, wish.policy)
  const { policy: _policy, ...said } = wish
  if (Object.keys(said).length === 0) return from
  const { window, outputs, reasoning, media, notes, speakers, summaries, layers, budget } = said
  return {
    policy: from.policy,
    window: merged(from.window, window),
    outputs: merged(from.outputs, outputs),
    reasoning: merged(from.reasoning, reasoning),
    media: merged(from.media, media),
    notes: withNotes(from.notes, notes),
    speakers: merged(from.speakers, speakers),
    summaries: merged(from.summaries, summaries),
    layers: merged(from.layers, layers),
    budget: merged(from.budget, budget),
  }
}

/** The very same, if nothing is said. */
function merged<Rules extends object>(before: Rules, said: Partial<Rules> | undefined): Rules {
  return said === undefined ? before : { ...before, ...said }
}

function fromPreset(before: ContextPolicy, name: PolicyName): ContextPolicy {
  const preset = PRESETS[name]
  if (before === preset) return before
  return OF_PRESET.reduce((policy, part) => ({ ...policy, [part]: preset[part] }), before)
}

function withNotes(
  before: PolicyTextRules,
  said: Partial<PolicyTextRules> | undefined,
): PolicyTextRules {
  if (said === undefined) return before
  const { entries = [], mode = before.mode } = said
  const kept = mode === 'replace' ? [] : before.entries
  return { mode, entries: [...kept, ...entries] }
}
