/**
 * Agents at work for many turns, with pictures, pins, several voices and tools that say much, under
 * every policy, over services that bind what they seal: none of them refuses anything or passes over
 * reasoning, and what they are sent begins as before but at the steps of the policy.
 *
 *     SAMPLE_SEED=all LAWS_SEED=7 npx vitest run --config test/vitest.config.ts test/e2e/policies-lawful.test.ts
 */
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { AGENTS, type Said } from '../support/agents.ts'
import { isSampled } from '../support/sample.ts'
import { serviceTown } from '../support/services/service-town.ts'

const MODELS = ['claude-opus-5-5', 'gpt-5.6', 'gemini-3.8-flash', 'vendor/model']
const TURNS = 26
/** Other conversations with another one. */
const SEED = Number(process.env['LAWS_SEED'] ?? 1)

/** When what was sent may change: never, with a new question, or also while tools are at work. */
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
  'a budget, replayed': [
    'any time',
    { policy: 'replay', budget: { window: 3200, overflow: 'cut' } },
  ],
  // One that is ready while a turn runs waits for the next question.
  summaries: ['between turns', { summaries: summedAbove(8) }],
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
  'all of that': [
    'any time',
    {
      policy: 'capped',
      outputs: { cap: 1200, keep_turns: 2, step: 3 },
      window: { turns: 12, tokens: 6000 },
      media: { view: true, window: 12 },
      notes: { entries: [note('Be kind.', 2)] },
      speakers: { hidden: ['u3'], merge: 'same_author', names: 'prefix' },
      summaries: summedAbove(9),
      layers: { working_memory: true, facts: true },
    },
  ],
}

function summedAbove(above: number) {
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

/** Of the accounts, those compact whose wire has a word for it. */
const town = serviceTown(({ UPSTREAMS = '[]' }) => {
  const accounts = JSON.parse(UPSTREAMS) as readonly JsonObject[]
  const compacting = accounts.map((account) =>
    /^(anthropic|responses)$/.test(String(account['wire']))
      ? { ...account, quirks: { compact: true } }
      : account,
  )
  return { UPSTREAMS: JSON.stringify(compacting) }
})
beforeEach(() => {
  for (const list of [town.services.received, town.services.refusals, town.services.dropped])
    list.splice(0)
})

type Way = keyof typeof AGENTS

interface Talk {
  readonly name: string
  readonly way: Way
  readonly model: string
}

/** What shows in a request that something has acted. */
const SIGNS = {
  'a note': /Be kind\./,
  'a summary': /\[Summary of the earlier part/,
  'a compaction': /"type":"compaction"/,
  'a warning': /This conversation has filled 0 % of what/,
  'working memory': /<working_memory/,
  'a fact that is kept': /Kept as \[/,
} as const

type Sign = keyof typeof SIGNS

/** What has to act in a talk. Nothing else does. */
function actingIn({ name, way, model }: Talk): readonly Sign[] {
  const isKept = way !== 'with all of it, sealed'
  const summed: readonly Sign[] = isKept ? ['a summary'] : []
  const layers: readonly Sign[] = isKept ? ['working memory', 'a fact that is kept'] : []
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
      // What steps came to is known of those that the gateway has kept as such.
      return way === 'by the response before' || way === 'in a conversation' ? ['a warning'] : []
    case 'all of that':
      return ['a note', ...summed, ...layers]
    default:
      return []
  }
}

const ways = Object.keys(AGENTS) as readonly Way[]
/**
 * Each policy meets each model and each way. A run tries each policy once, and every pair of a way and
 * a model among them.
 */
const TALKS = Object.entries(POLICIES).flatMap(([name, [steps, backstory]], row) =>
  ways.flatMap((way, column) => {
    if (!isSampled(column + Math.floor(row / ways.length), ways.length)) return []
    const model = MODELS[(row + column) % MODELS.length] ?? ''
    return [{ name, way, model, steps, backstory, seed: SEED * 1000 + row * 10 + column }]
  }),
)

describe('reasoning that we made invalid is never sent, nor is anything that is refused', () => {
  test.each(TALKS)('$name, $way, with $model', async ({ steps, backstory, seed, ...talk }) => {
    const { name, way, model } = talk
    const agent = AGENTS[way]({ openai: town.gateway.openai, model, backstory })
    const sent: Sent[] = []
    let said = 0
    // Much of it, where there is to be more than an upstream can be asked to compact.
    const times = name === 'summaries by the upstream' ? 6 : 1
    const tool = (args: string) => `${args}: ${'fog 🌫 '.repeat(((said += 60) % 400) * times)}`
    // What is always sent, such as pictures that are asked about, may alone be too much for a budget.
    const isBounded = 'budget' in backstory
    for (const asked of questions(seed)) {
      await agent.ask(isBounded ? { ...asked, images: [], field: null } : asked, tool)
      // What is asked for a summary has no tools.
      const requests = town.services.received.splice(0).map(({ json }) => json as JsonObject)
      const own = requests.filter(({ tools }) => tools !== undefined)
      sent.push(...own.map((body, at) => ({ blocks: blocksIn(body), isFirst: at === 0 })))
    }
    expect([town.services.refusals, town.services.dropped]).toEqual([[], []])
    expect(sent.length).toBeGreaterThan(TURNS)
    expect(changesIn(sent, steps)).toEqual([])
    expect(signsIn(sent)).toEqual(actingIn(talk))
  })
})

function signsIn(sent: readonly Sent[]): readonly string[] {
  const isSeen = (sign: RegExp) => sent.some(({ blocks }) => blocks.some((one) => sign.test(one)))
  return Object.entries(SIGNS).flatMap(([name, sign]) => (isSeen(sign) ? [name] : []))
}

function questions(seed: number): readonly Said[] {
  return fc.sample(question, { numRuns: TURNS, seed })
}

interface Sent {
  readonly blocks: readonly string[]
  /** Of its turn. */
  readonly isFirst: boolean
}

/** What was sent otherwise than before although that may not be. */
function changesIn(sent: readonly Sent[], steps: Steps): readonly string[] {
  if (steps === 'any time') return []
  return sent.flatMap(({ blocks, isFirst }, at) => {
    if (isFirst && steps === 'between turns') return []
    const before = sent[at - 1]?.blocks ?? []
    const place = before.findIndex((block, index) => block !== blocks[index])
    return place === -1 ? [] : [`${at}: ${before[place]} became ${blocks[place]}`]
  })
}

/** A body in the order in which a provider reads it, in the smallest parts it has. */
function blocksIn(body: JsonObject): readonly string[] {
  const { system, systemInstruction, instructions, tools, messages, input, contents } = body
  const list = (messages ?? input ?? contents) as readonly JsonObject[]
  const said = list.flatMap((entry): readonly unknown[] => {
    const blocks = entry['content'] ?? entry['parts']
    const isCut = Array.isArray(blocks) && input === undefined && entry['tool_calls'] === undefined
    return isCut ? blocks.map((block: unknown) => [entry['role'], block]) : [entry]
  })
  const isTelling = (name: string) => name !== 'cache_control'
  return [[system, systemInstruction, instructions, tools], ...said].map((block) =>
    JSON.stringify(block, (name, value: unknown) => (isTelling(name) ? value : undefined)),
  )
}
