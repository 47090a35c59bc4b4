/** What was asked for on the command line. What makes no sense is told in a sentence. */
import { parseCommandLine } from './parse-command-line.ts'
import { resolvePolicy } from '../../core/context-policy.ts'
import { readPolicyOverrides } from '../../dialects/context-policy/parse-and-format-overrides.ts'
import {
  CANDIDATE_NAMES,
  createPolicyCandidate,
  listPolicyCandidates,
  type PolicyCandidate,
} from '../../simulate/policy-candidates.ts'
import type { PolicyComparison } from '../../simulate/compare-policies.ts'

export interface SimulateArguments extends Omit<PolicyComparison, 'scripts'> {
  readonly seeds: readonly number[]
  /** Whether those that are made have images. */
  readonly images: boolean
  /** `null` for conversations that are made. */
  readonly source: ConversationSource | null
  readonly json: boolean
  /** Where a chart is to be written. */
  readonly svg: string | null
  readonly help: boolean
}

export type ConversationSource =
  | { readonly from: 'file'; readonly path: string }
  | {
      readonly from: 'memory'
      readonly kind: 'conversation' | 'response'
      readonly id: string
      readonly tenant: string | null
      readonly user: string | null
    }

/** A text is what is wrong. */
export function parseSimulateArguments(words: readonly string[]): SimulateArguments | string {
  const said = parseCommandLine(words, { flags: FLAGS, options: OPTIONS, usage: SIMULATE_USAGE })
  return typeof said === 'string' ? said : understood(said.options)
}

function understood(said: ReadonlyMap<string, string>): SimulateArguments | string {
  const binds = !said.has('--unbound')
  const all = listPolicyCandidates(binds)
  const contestants = contestantsIn(all, said.get('--policies'), said.get('--context'), binds)
  if (typeof contestants === 'string') return contestants
  const seeds = seedsIn(said.get('--seeds') ?? '0-19')
  if (typeof seeds === 'string') return seeds
  const source = sourceIn(said)
  if (typeof source === 'string') return source
  const ofMade = ['--seeds', '--images'].find((name) => said.has(name))
  if (source !== null && ofMade !== undefined)
    return `${ofMade} is for conversations that are made, not for one that was recorded.`
  return {
    contestants,
    replay: all[0],
    binds,
    seeds,
    images: said.has('--images'),
    source,
    json: said.has('--json'),
    svg: said.get('--svg') ?? null,
    help: said.has('--help') || said.has('-h'),
  }
}

const FLAGS: ReadonlySet<string> = new Set(['--images', '--unbound', '--json', '--help', '-h'])

/** What each of them needs. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--policies', 'names, as in `--policies retain,lean`'],
  ['--context', 'a policy of your own, as JSON of the setting CONTEXT has it'],
  ['--seeds', 'numbers, as in `--seeds 0-4`'],
  ['--from', 'a file'],
  ['--conversation', 'the id of a conversation'],
  ['--response', 'the id of a response'],
  ['--tenant', 'the name of a key'],
  ['--user', 'the id of a user'],
  ['--svg', 'a file'],
])

export const SIMULATE_USAGE = `Usage: npm run simulate -- [options]
  --policies NAMES   which to compare, of ${CANDIDATE_NAMES.join(', ')}
  --context JSON     a policy of your own beside them: '{"policy": "retain", "outputs": {"keep_turns": 4}}'
  --seeds 0-19       which conversations are made
  --images           and that they show images, up to two with each question
  --from FILE        recorded ones instead: items, a Responses or a chat body, or a list of these
  --conversation ID  one of the database that DATABASE_URL names; --response ID likewise
  --tenant, --user   whose it is, if it is not clear
  --unbound          as for a model that reads its reasoning behind any prefix
  --json             figures for a machine
  --svg FILE         writes a chart as well`

function contestantsIn(
  all: readonly PolicyCandidate[],
  names: string | undefined,
  context: string | undefined,
  binds: boolean,
): readonly PolicyCandidate[] | string {
  const asked = names?.split(',').map((name) => name.trim()) ?? CANDIDATE_NAMES
  const unknown = asked.find((name) => !CANDIDATE_NAMES.includes(name))
  if (unknown !== undefined)
    return `There is no policy "${unknown}" for --policies. There are ${CANDIDATE_NAMES.join(', ')}.`
  const known = all.filter(({ name }) => asked.includes(name))
  if (context === undefined) return known
  try {
    const wishes = readPolicyOverrides(
      context.startsWith('{') ? JSON.parse(context) : context,
      'context',
    )
    return [...known, createPolicyCandidate('your own', resolvePolicy([wishes]), binds)]
  } catch (fault) {
    return `--context: ${fault instanceof Error ? fault.message : String(fault)}`
  }
}

const MOST_SEEDS = 1000

/** `3`, `0-4`, or several of these. */
function seedsIn(text: string): readonly number[] | string {
  const seeds: number[] = []
  for (const range of text.split(',')) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range.trim()) ?? []
    if (first === undefined || Number(last) < Number(first))
      return `--seeds needs numbers, as in \`--seeds 0-4\`; "${range}" is none.`
    if (seeds.length + Number(last) - Number(first) >= MOST_SEEDS)
      return `--seeds takes at most ${MOST_SEEDS} conversations.`
    for (let seed = Number(first); seed <= Number(last); seed += 1) seeds.push(seed)
  }
  return [...new Set(seeds)]
}

function sourceIn(said: ReadonlyMap<string, string>): ConversationSource | null | string {
  const [path, conversation, response] = [
    said.get('--from'),
    said.get('--conversation'),
    said.get('--response'),
  ]
  const given = [path, conversation, response].filter((value) => value !== undefined)
  if (given.length > 1) return 'Of --from, --conversation and --response, only one can be played.'
  const id = conversation ?? response
  if (id === undefined) {
    if (said.has('--tenant') || said.has('--user'))
      return '--tenant and --user say whose --conversation or --response it is.'
    return path === undefined ? null : { from: 'file', path }
  }
  const kind = conversation === undefined ? 'response' : 'conversation'
  const [tenant, user] = [said.get('--tenant') ?? null, said.get('--user') ?? null]
  return { from: 'memory', kind, id, tenant, user }
}
