/** Parses the arguments of the command `simulate`. */
import { parseCommandArguments } from './parse-command-arguments.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { resolvePolicy } from '../../core/context-policy.ts'
import { readPolicyOverrides } from '../../dialects/context-policy/parse-and-format-overrides.ts'
import {
  CANDIDATE_NAMES,
  createPolicyCandidate,
  listPolicyCandidates,
  type PolicyCandidate,
} from '../../simulate/policy-candidates.ts'
import { DEFAULT_ROUND_COUNT } from '../../simulate/generate-conversation.ts'
import { DEFAULT_PRICES, type CachePrices } from '../../simulate/policy-cost-metrics.ts'
import type { PolicyComparison } from '../../simulate/compare-policies.ts'

export interface SimulateArguments extends Omit<PolicyComparison, 'scripts'> {
  readonly seeds: readonly number[]
  /** Number of rounds of each generated conversation. */
  readonly rounds: number
  /** Length of each tool output of generated conversations; null if it varies. */
  readonly outputChars: number | null
  readonly prices: CachePrices
  /** True if generated conversations contain images. */
  readonly hasImages: boolean
  /** Where the recorded conversations are; null for generated conversations. */
  readonly recording: ConversationSource | null
  readonly printsJson: boolean
  /** Path of the chart to write. */
  readonly svgPath: string | null
  readonly showsUsage: boolean
}

export type ConversationSource =
  | { readonly storedIn: 'file'; readonly path: string }
  | {
      readonly storedIn: 'database'
      readonly kind: 'conversation' | 'response'
      readonly id: string
      readonly tenant: string | null
      readonly user: string | null
    }

/** Parses the arguments. Throws an error with a message for the user. */
export function parseSimulateArguments(args: readonly string[]): SimulateArguments {
  const { values } = parseCommandArguments(args, OPTIONS, SIMULATE_USAGE)
  const bindsReasoning = values.unbound !== true
  const all = listPolicyCandidates(bindsReasoning)
  const candidates = selectCandidates(all, values.policies, values.context, bindsReasoning)
  const seeds = parseSeeds(values.seeds ?? '0-19')
  const source = readSource(values)
  const { seeds: seedText, images, turns, outputs } = values
  if (source !== null && (seedText ?? images ?? turns ?? outputs) !== undefined)
    throw new Error(
      '--seeds, --turns, --outputs and --images are for generated conversations, not for recorded ones.',
    )
  return {
    candidates,
    baseline: all[0],
    bindsReasoning,
    seeds,
    rounds: parseCount(turns, '--turns', MAX_ROUNDS) ?? DEFAULT_ROUND_COUNT,
    outputChars: parseCount(outputs, '--outputs', MAX_OUTPUT_CHARS),
    prices: parsePrices(values.prices),
    hasImages: values.images === true,
    recording: source,
    printsJson: values.json === true,
    svgPath: values.svg ?? null,
    showsUsage: values.help === true,
  }
}

const OPTIONS = {
  policies: { type: 'string' },
  context: { type: 'string' },
  seeds: { type: 'string' },
  turns: { type: 'string' },
  outputs: { type: 'string' },
  prices: { type: 'string' },
  images: { type: 'boolean' },
  from: { type: 'string' },
  conversation: { type: 'string' },
  response: { type: 'string' },
  key: { type: 'string' },
  // `--tenant` is the earlier name of `--key`.
  tenant: { type: 'string' },
  user: { type: 'string' },
  unbound: { type: 'boolean' },
  json: { type: 'boolean' },
  svg: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

export const SIMULATE_USAGE = `Usage: npm run simulate -- [options]
  --policies NAMES   the policies to compare: ${CANDIDATE_NAMES.join(', ')}
  --context JSON     a policy of your own in addition: '{"policy": "retain", "outputs": {"keep_turns": 4}}'
  --seeds 0-19       the random seeds, one for each generated conversation
  --turns 60         the length of generated conversations
  --outputs 2500     the characters of each generated tool output; by default they vary
  --prices 1.25,0.1  the prices of new and of cached input; by default 1,0.1
  --images           generates up to two images with each question
  --from FILE        uses recorded conversations: items, a Responses or a chat body, or a list of these
  --conversation ID  uses a conversation from the database of DATABASE_URL; --response ID likewise
  --key NAME         the API key that it belongs to, if there are several
  --user ID          the user that it belongs to
  --unbound          simulates a model that accepts its reasoning after any prefix
  --json             prints figures as JSON
  --svg FILE         writes a chart, too`

function selectCandidates(
  all: readonly PolicyCandidate[],
  names: string | undefined,
  context: string | undefined,
  bindsReasoning: boolean,
): readonly PolicyCandidate[] {
  const requested = names?.split(',').map((name) => name.trim()) ?? CANDIDATE_NAMES
  const unknown = requested.find((name) => !CANDIDATE_NAMES.includes(name))
  if (unknown !== undefined)
    throw new Error(
      `There is no policy "${unknown}" for --policies. There are ${CANDIDATE_NAMES.join(', ')}.`,
    )
  const selected = all.filter(({ name }) => requested.includes(name))
  if (context === undefined) return selected
  try {
    const value: unknown = context.startsWith('{') ? JSON.parse(context) : context
    const overrides = readPolicyOverrides(value, 'context')
    return [
      ...selected,
      createPolicyCandidate('your own', resolvePolicy([overrides]), bindsReasoning),
    ]
  } catch (error) {
    throw new Error(`--context: ${errorMessage(error)}`, { cause: error })
  }
}

const MAX_ROUNDS = 1000
const MAX_OUTPUT_CHARS = 1_000_000

function parseCount(text: string | undefined, option: string, max: number): number | null {
  if (text === undefined) return null
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > max)
    throw new Error(`${option} needs a number from 1 to ${max}, not "${text}".`)
  return count
}

/** Parses the prices of new and of cached input, e.g. `1.25,0.1`. */
function parsePrices(text: string | undefined): CachePrices {
  if (text === undefined) return DEFAULT_PRICES
  const [written, cached, ...others] = text.split(',').map(Number)
  const isPrice = (price: number | undefined): price is number => price !== undefined && price >= 0
  if (!isPrice(written) || !isPrice(cached) || others.length > 0)
    throw new Error(`--prices needs two numbers, as in \`--prices 1.25,0.1\`, not "${text}".`)
  return { written, cached }
}

const MAX_SEEDS = 1000

/** Parses seeds: `3`, `0-4` or a list such as `3,0-4`. */
function parseSeeds(text: string): readonly number[] {
  const seeds: number[] = []
  for (const range of text.split(',')) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range.trim()) ?? []
    if (first === undefined || Number(last) < Number(first))
      throw new Error(`--seeds needs numbers, as in \`--seeds 0-4\`; "${range}" is none.`)
    if (seeds.length + Number(last) - Number(first) >= MAX_SEEDS)
      throw new Error(`--seeds takes at most ${MAX_SEEDS} conversations.`)
    for (let seed = Number(first); seed <= Number(last); seed += 1) seeds.push(seed)
  }
  return [...new Set(seeds)]
}

function readSource(
  values: Partial<Record<'from' | 'conversation' | 'response' | 'key' | 'tenant' | 'user', string>>,
): ConversationSource | null {
  const { from, conversation, response, user } = values
  const tenant = values.key ?? values.tenant
  if ([from, conversation, response].filter((value) => value !== undefined).length > 1)
    throw new Error('Only one of --from, --conversation and --response can be simulated.')
  const id = conversation ?? response
  if (id === undefined) {
    if (tenant !== undefined || user !== undefined)
      throw new Error(
        '--key and --user name the owner of a --conversation or --response, which is missing.',
      )
    return from === undefined ? null : { storedIn: 'file', path: from }
  }
  const kind = conversation === undefined ? 'response' : 'conversation'
  return { storedIn: 'database', kind, id, tenant: tenant ?? null, user: user ?? null }
}
