/**
 * Agents run for 26 turns under every policy, with pictures, pins, several authors and long tool outputs, over
 * services that bind reasoning to its prefix. No service may reject a request or skip reasoning, and prompts
 * may change only at the steps of the policy.
 *
 *     SAMPLE_SEED=all LAWS_SEED=7 npx vitest run --config test/vitest.config.ts test/e2e/agents-under-policies.test.ts
 */
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { AGENTS, type UserTurn } from '../support/agents.ts'
import { isSampled } from '../support/sample.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'

const MODELS = ['claude-opus-5-5', 'gpt-5.6', 'gemini-3.8-flash', 'vendor/model']
const TURNS = 26
/** Selects the generated conversations. */
const SEED = Number(process.env['LAWS_SEED'] ?? 1)

/** When already sent items may change: never, at a new question, or also within a running tool loop. */
type Steps = 'never' | 'between turns' | 'any time'

const note = (text: string, depth: number) => ({ text, depth, role: 'developer' })

const POLICIES: Readonly<Record<string, readonly [steps: Steps, backstory: object]>> = {
  replay: ['never', { policy: 'replay' }],
  retain: ['between turns', { policy: 'retain' }],
  lean: ['between turns', { policy: 'lean' }],
  capped: ['between turns', { policy: 'capped', outputs: { cap: 900 } }],
  'a window of turns': ['between turns', { window: { turns: 6 } }],
  'a window of items': ['any time', { window: { items: 24 } }],
  'a window of tokens': ['any time', { policy: 'lean', window: { tokens: 2000 } }],
  notes: ['between turns', { notes: { entries: [note('Be kind.', 1), note('Be brief.', 4)] } }],
  'a budget': ['any time', { budget: { window: 4000, overflow: 'cut' } }],
  'a budget with the replay policy': [
    'any time',
    { policy: 'replay', budget: { window: 3200, overflow: 'cut' } },
  ],
  // A summary that becomes ready within a turn is applied at the next question.
  summaries: ['between turns', { summaries: summariesAbove(8) }],
  'summaries by the upstream': [
    'any time',
    { summaries: { trigger: 'tokens', above: 50_000, by: 'upstream' } },
  ],
  layers: ['between turns', { layers: { working_memory: true, facts: true } }],
  'a warning': ['any time', { budget: { window: 40_000, warn_at: 0.002 } }],
  voices: [
    'between turns',
    { speakers: { hidden: ['u3'], merge: 'same_author', names: 'prefix' } },
  ],
  'all features': [
    'any time',
    {
      policy: 'capped',
      outputs: { cap: 1200, keep_turns: 2, step: 3 },
      window: { turns: 12, tokens: 6000 },
      media: { view: true, window: 12 },
      notes: { entries: [note('Be kind.', 2)] },
      speakers: { hidden: ['u3'], merge: 'same_author', names: 'prefix' },
      summaries: summariesAbove(9),
      layers: { working_memory: true, facts: true },
    },
  ],
}

function summariesAbove(above: number) {
  return { trigger: 'turns', above, keep_turns: 3, keep_tokens: 0 }
}

const question = fc.record({
  text: fc.constantFrom(
    'Hello.',
    'Look at Rome.',
    'Look at Rome and Oslo, then at Graz.',
    'Look at Bern, then at Rome, then at Oslo.',
    'Use view_media({"handle":"media_1"}).',
    'Use update_working_memory({"changes":{"at":"Graz"}}), then look({"at":"Rome"}).',
    'Use remember({"text":"Ann likes Bern."}) and update_working_memory({"changes":{"at":null}}).',
  ),
  images: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom('A', 'B', 'C', 'D', 'E').map(png), { maxLength: 3 }),
    },
  ),
  field: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant({ pin: true }) },
    {
      weight: 3,
      arbitrary: fc.constantFrom('u1', 'u2', 'u3').map((id) => ({ author: { id, name: id } })),
    },
  ),
})

function png(name: string): string {
  return `data:image/png;base64,iVBORw0KGgo${name.repeat(4)}`
}

/** Turns on compaction for the accounts whose wire supports it. */
const setup = useGatewayWithServices(({ UPSTREAMS = '[]' }) => {
  const accounts = JSON.parse(UPSTREAMS) as readonly JsonObject[]
  const compacting = accounts.map((account) =>
    /^(anthropic|responses)$/.test(String(account['wire']))
      ? { ...account, quirks: { compact: true } }
      : account,
  )
  return { UPSTREAMS: JSON.stringify(compacting) }
})
beforeEach(() => {
  for (const list of [setup.services.received, setup.services.refusals, setup.services.dropped])
    list.splice(0)
})

type AgentName = keyof typeof AGENTS

interface TalkCase {
  readonly name: string
  readonly way: AgentName
  readonly model: string
}

/** Patterns that show in a request that a feature was applied. */
const FEATURE_PATTERNS = {
  'a note': /Be kind\./,
  'a summary': /\[Summary of the earlier part/,
  'a compaction': /"type":"compaction"/,
  'a warning': /This conversation has filled 0 % of what/,
  'working memory': /<working_memory/,
  'a stored fact': /Kept as \[/,
} as const

type Feature = keyof typeof FEATURE_PATTERNS

/** Returns the features that must be visible in the requests; no other may be. */
function expectedFeatures({ name, way, model }: TalkCase): readonly Feature[] {
  const isKept = way !== 'with all items and encrypted reasoning'
  const summed: readonly Feature[] = isKept ? ['a summary'] : []
  const layers: readonly Feature[] = isKept ? ['working memory', 'a stored fact'] : []
  switch (name) {
    case 'notes':
      return ['a note']
    case 'summaries':
      return summed
    case 'summaries by the upstream':
      return /^(claude|gpt)/.test(model) ? ['a compaction'] : summed
    case 'layers':
      return layers
    case 'a warning':
      // The size of earlier steps is known only if the gateway has stored them.
      return way === 'by previous_response_id' || way === 'in a conversation' ? ['a warning'] : []
    case 'all features':
      return ['a note', ...summed, ...layers]
    default:
      return []
  }
}

const ways = Object.keys(AGENTS) as readonly AgentName[]
/**
 * All combinations of policy, model and agent. A sampled run tries each policy once, and covers every pair of
 * agent and model.
 */
const TALKS = Object.entries(POLICIES).flatMap(([name, [steps, backstory]], row) =>
  ways.flatMap((way, column) => {
    if (!isSampled(column + Math.floor(row / ways.length), ways.length)) return []
    const model = MODELS[(row + column) % MODELS.length] ?? ''
    return [{ name, way, model, steps, backstory, seed: SEED * 1000 + row * 10 + column }]
  }),
)

test.each(TALKS)(
  'requests of an agent with $name ($way, $model) keep their prefix and valid reasoning, and none is rejected',
  async ({ steps, backstory, seed, ...talk }) => {
    const { name, way, model } = talk
    const agent = AGENTS[way]({ openai: setup.gateway.openai, model, backstory })
    const sent: Sent[] = []
    let reply = 0
    // Longer outputs, so that the conversation exceeds the upstream's minimum for compaction.
    const times = name === 'summaries by the upstream' ? 6 : 1
    const tool = (args: string) => `${args}: ${'fog 🌫 '.repeat(((reply += 60) % 400) * times)}`
    // Pictures in the question are always sent and could exceed a budget by themselves.
    const isBounded = 'budget' in backstory
    for (const asked of questions(seed)) {
      await agent.ask(isBounded ? { ...asked, images: [], field: null } : asked, tool)
      // Requests for a summary have no tools.
      const requests = setup.services.received.splice(0).map(({ json }) => json as JsonObject)
      const own = requests.filter(({ tools }) => tools !== undefined)
      sent.push(...own.map((body, at) => ({ blocks: blocksIn(body), isFirst: at === 0 })))
    }
    expect([setup.services.refusals, setup.services.dropped]).toEqual([[], []])
    expect(sent.length).toBeGreaterThan(TURNS)
    expect(forbiddenChanges(sent, steps)).toEqual([])
    expect(featuresIn(sent)).toEqual(expectedFeatures(talk))
  },
)

function featuresIn(sent: readonly Sent[]): readonly string[] {
  const isSeen = (sign: RegExp) => sent.some(({ blocks }) => blocks.some((one) => sign.test(one)))
  return Object.entries(FEATURE_PATTERNS).flatMap(([name, sign]) => (isSeen(sign) ? [name] : []))
}

function questions(seed: number): readonly UserTurn[] {
  return fc.sample(question, { numRuns: TURNS, seed })
}

interface Sent {
  readonly blocks: readonly string[]
  /** True for the first request of its turn. */
  readonly isFirst: boolean
}

/** Returns the items that changed between two requests although `steps` does not allow it. */
function forbiddenChanges(sent: readonly Sent[], steps: Steps): readonly string[] {
  if (steps === 'any time') return []
  return sent.flatMap(({ blocks, isFirst }, at) => {
    if (isFirst && steps === 'between turns') return []
    const before = sent[at - 1]?.blocks ?? []
    const place = before.findIndex((block, index) => block !== blocks[index])
    return place === -1 ? [] : [`${at}: ${before[place]} became ${blocks[place]}`]
  })
}

/** Splits a body into its smallest parts, in the order in which a provider reads them. */
function blocksIn(body: JsonObject): readonly string[] {
  const { system, systemInstruction, instructions, tools, messages, input, contents } = body
  const list = (messages ?? input ?? contents) as readonly JsonObject[]
  const reply = list.flatMap((entry): readonly unknown[] => {
    const blocks = entry['content'] ?? entry['parts']
    const isCut = Array.isArray(blocks) && input === undefined && entry['tool_calls'] === undefined
    return isCut ? blocks.map((block: unknown) => [entry['role'], block]) : [entry]
  })
  const isTelling = (name: string) => name !== 'cache_control'
  return [[system, systemInstruction, instructions, tools], ...reply].map((block) =>
    JSON.stringify(block, (name, value: unknown) => (isTelling(name) ? value : undefined)),
  )
}
