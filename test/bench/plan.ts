/**
 * What the plan costs, in milliseconds and against reading and writing the same request as JSON, which
 * every gateway does anyway:
 *
 *     node test/bench/plan.ts
 *
 * Each policy with all its transforms, and with every window on top, over 200 turns (1,000 items): the
 * first time that the items are seen, as from a client that sends everything anew, and from then on;
 * and over 100,000 items, which may take as much longer as there is more of them. Then the estimate of
 * the tokens of a long history.
 */
import { itemTokens } from '../../src/conversation/item-tokens.ts'
import type { Item } from '../../src/conversation/item.ts'
import { POLICY_NAMES, policyWith, type PolicyName } from '../../src/conversation/policy.ts'
import { estimateTokens } from '../../src/conversation/tokens.ts'
import { planFor, rebuild } from '../../src/rebuild/plan.ts'

const MOST_MS = 4
const MOST_RATIO = 4

/** Five items a turn, one in four outputs of 6 KB. */
function conversation(turns: number): readonly Item[] {
  return Array.from({ length: turns }).flatMap((_, turn): readonly Item[] => [
    said('user', `question ${turn} ${'why '.repeat(60)}`),
    { type: 'reasoning', summary: [], encrypted_content: `${turn} ${'c2VhbGVk'.repeat(100)}` },
    { type: 'function_call', call_id: `call_${turn}`, name: 'look', arguments: '{"at":"it"}' },
    { type: 'function_call_output', call_id: `call_${turn}`, output: outputOf(turn) },
    said('assistant', `answer ${turn} ${'because '.repeat(60)}`),
  ])
}

function said(role: 'user' | 'assistant', text: string): Item {
  const type = role === 'user' ? 'input_text' : 'output_text'
  return { type: 'message', role, content: [{ type, text }] }
}

function outputOf(turn: number): string {
  if (turn % 4 > 1) return `fog ${turn}`
  if (turn % 4 === 1) return `line ${turn}\n`.repeat(600)
  return JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: `row ${turn}` })))
}

function planned(policy: PolicyName, items: number, isWindowed: boolean) {
  const window = isWindowed ? { turns: items / 10, items: items / 3, tokens: items * 100 } : {}
  const reader = { wire: 'chat', account: 'a', compacts: false }
  return planFor({ policy: policyWith([{ policy, window }]), reader })
}

/** The best of many: what else the machine does is not ours. */
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
  process.stdout.write(`${name.padEnd(34)}${numbers.map((text) => text.padStart(12)).join('')}\n`)
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
  for (const isWindowed of [false, true]) {
    const run = (items: readonly Item[]) =>
      rebuild(items, planned(policy, items.length, isWindowed))
    const first = bestMs(40, () => JSON.parse(text) as readonly Item[], run)
    const again = bestMs(40, () => small, run)
    const many = bestMs(3, () => large, run)
    row(
      isWindowed ? `${policy}, all windows` : policy,
      ms(first),
      `× ${(first / roundTripMs).toFixed(1)}`,
      ms(again),
      ms(many),
      `× ${(many / 100 / again).toFixed(1)}`,
    )
    isMet &&= again <= MOST_MS && first / roundTripMs <= MOST_RATIO
  }
}

const turns = Math.ceil(100_000 / (estimateTokens(small) / 200))
const history = conversation(turns)
const sum = (items: readonly Item[]) => items.reduce((total, item) => total + itemTokens(item), 0)
const count = bestMs(1, () => history, sum)
const recount = bestMs(40, () => history, sum)
row(`tokens of ${sum(history)}`, ms(count), '', ms(recount))
isMet &&= recount <= 1
process.stdout.write(isMet ? 'As fast as it should be.\n' : 'Slower than it should be.\n')
process.exitCode = isMet ? 0 : 1
