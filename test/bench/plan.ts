/**
 * Measures the planning of a prompt, in milliseconds and relative to parsing and writing the same request as
 * JSON, which every gateway does anyway:
 *
 *     node test/bench/plan.ts
 *
 * Each policy runs with all its transforms, then also with every window, then also with media limits, authors
 * (shown, merged and hidden), notes and a summary. The conversation has 200 turns (1,000 items) of several
 * authors, with pictures and with reasoning whose prefix was not recorded. Measured are the first run with new
 * items, later runs with the same items, and 100,000 items, whose time may grow only linearly; finally the
 * token estimate of a long history.
 */
import { estimateItemTokens } from '../../src/core/items/item-tokens.ts'
import type { Item, Part } from '../../src/core/item.ts'
import { setGatewayFields } from '../../src/core/items/gateway-fields.ts'
import {
  POLICY_NAMES,
  resolvePolicy,
  type PolicyName,
  type PolicyOverrides,
} from '../../src/core/context-policy.ts'
import { estimateTokens } from '../../src/core/text/estimate-tokens.ts'
import { listItemsReplacedBySummary } from '../../src/context/summaries/apply-summary.ts'
import { dropInvalidReasoning } from '../../src/context/reasoning/drop-invalid-reasoning.ts'
import {
  listPolicyTextTransforms,
  listTransforms,
  runTransforms,
} from '../../src/context/list-and-run-transforms.ts'

const MAX_MS = 4
const MAX_RATIO = 4

/** Five items per turn; one in four outputs has 6 KB, one in ten questions a picture; three authors. */
function conversation(turns: number): readonly Item[] {
  return Array.from({ length: turns }).flatMap((_, turn): readonly Item[] => [
    questionItem(turn),
    { type: 'reasoning', summary: [], encrypted_content: `${turn} ${'c2VhbGVk'.repeat(100)}` },
    { type: 'function_call', call_id: `call_${turn}`, name: 'look', arguments: '{"at":"it"}' },
    { type: 'function_call_output', call_id: `call_${turn}`, output: outputOf(turn) },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: `answer ${turn} ${'because '.repeat(60)}` }],
    },
  ])
}

function questionItem(turn: number): Item {
  const text = `question ${turn} ${'why '.repeat(60)}`
  const url = `https://pictures.example/${turn}.png`
  const image: readonly Part[] = turn % 10 === 0 ? [{ type: 'input_image', image_url: url }] : []
  const content: readonly Part[] = [{ type: 'input_text', text }, ...image]
  const said: Item = { type: 'message', role: 'user', content }
  return turn % 5 === 0 ? setGatewayFields(said, { author: { name: `A${turn % 3}` } }) : said
}

function outputOf(turn: number): string {
  if (turn % 4 > 1) return `fog ${turn}`
  if (turn % 4 === 1) return `line ${turn}\n`.repeat(600)
  return JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: `row ${turn}` })))
}

type Extent = 'alone' | 'with all windows' | 'with all that there is'

const EXTENTS: readonly Extent[] = ['alone', 'with all windows', 'with all that there is']

function policyFor(policy: PolicyName, length: number, extent: Extent): PolicyOverrides {
  if (extent === 'alone') return { policy }
  const windows = { turns: length / 10, items: length / 3, tokens: length * 100 }
  if (extent === 'with all windows') return { policy, window: windows }
  return {
    policy,
    window: windows,
    outputs: { cap: 4000, keepTurns: 5, step: 10 },
    media: { window: length / 5, images: 5, repeated: 'last' },
    speakers: { hidden: ['A2'], merge: 'same_author', names: 'prefix', persona: 'Ada' },
    notes: { entries: [{ text: 'Be kind.', depth: 3, role: 'developer' }] },
  }
}

/** Runs the plan as for a request, and then the checks of reasoning. */
function planPrompt(
  items: readonly Item[],
  name: PolicyName,
  extent: Extent,
): () => readonly unknown[] {
  const policy = resolvePolicy([policyFor(name, items.length, extent)])
  const replacedItems = listItemsReplacedBySummary(items, items.length / 5)
  const summary = { id: 'sum_1', text: 'In short, why.', facts: [], replacedItems }
  const reader = { wire: 'responses', account: 'a', makesCompactions: false }
  const summed = extent === 'with all that there is' ? { summary } : {}
  const plan = listTransforms({
    policy,
    reader,
    conversation: items,
    hasNameField: false,
    ...summed,
  })
  return () => {
    const validity = {
      ...reader,
      model: 'm',
      computeSeed: () => '',
      checksPrefix: true,
      answersAfterRejection: [],
    }
    const judge = dropInvalidReasoning({ ...validity, hadSameGatewayTools: () => true })
    return runTransforms(items, [...plan, ...listPolicyTextTransforms(policy), judge]).items
  }
}

/** Returns the fastest of many runs, because other load only adds time. */
function bestMs<Given>(times: number, given: () => Given, run: (given: Given) => unknown): number {
  let best = Infinity
  for (let time = 0; time < times; time += 1) {
    const input = given()
    const startMs = performance.now()
    run(input)
    best = Math.min(best, performance.now() - startMs)
  }
  return best
}

function row(name: string, ...numbers: readonly string[]): void {
  process.stdout.write(`${name.padEnd(36)}${numbers.map((text) => text.padStart(12)).join('')}\n`)
}

const ms = (value: number): string => `${value.toFixed(2)} ms`
const small = conversation(200)
const large = conversation(20_000)
const text = JSON.stringify(small)
const roundTripMs = bestMs(
  60,
  () => text,
  (json) => JSON.stringify(JSON.parse(json)),
)
let isMet = true

row('', 'first', '× JSON', 'from then on', '100,000', 'an item')
row('JSON.parse and JSON.stringify', ms(roundTripMs), '× 1.0')
for (const policy of POLICY_NAMES) {
  for (const extent of EXTENTS) {
    const plan = (items: readonly Item[]) => planPrompt(items, policy, extent)
    const run = (prepared: () => unknown) => prepared()
    const first = bestMs(40, () => plan(JSON.parse(text) as readonly Item[]), run)
    const again = bestMs(40, () => plan(small), run)
    const many = bestMs(3, () => plan(large), run)
    row(
      extent === 'alone' ? policy : `${policy}, ${extent}`,
      ms(first),
      `× ${(first / roundTripMs).toFixed(1)}`,
      ms(again),
      ms(many),
      `× ${(many / 100 / again).toFixed(1)}`,
    )
    isMet &&= again <= MAX_MS && first / roundTripMs <= MAX_RATIO
  }
}

const turns = Math.ceil(100_000 / (estimateTokens(small) / 200))
const history = conversation(turns)
const sum = (items: readonly Item[]) =>
  items.reduce((total, item) => total + estimateItemTokens(item), 0)
const count = bestMs(1, () => history, sum)
const recount = bestMs(40, () => history, sum)
row(`tokens of ${sum(history)}`, ms(count), '', ms(recount))
isMet &&= recount <= 1
process.stdout.write(isMet ? 'As fast as it should be.\n' : 'Slower than it should be.\n')
process.exitCode = isMet ? 0 : 1
