/**
 * What the gateway would send of a conversation, by each wire and under several policies, shown to
 * the checkers of the four wires.
 */
import { resolvePolicy } from '../../src/core/context-policy.ts'
import type { Item } from '../../src/core/item.ts'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { PromptParameters } from '../../src/core/prompt.ts'
import { stringifyWellFormed } from '../../src/core/json/well-formed-json.ts'
import type { Account, WireName } from '../../src/providers/provider-interface.ts'
import { PROVIDERS } from '../../src/providers/registry.ts'
import { listTransforms, runTransforms } from '../../src/context/list-and-run-transforms.ts'
import { anthropicComplaints } from './anthropic-laws.ts'
import { chatFaults } from './chat-laws.ts'
import { geminiFaults } from './gemini-laws.ts'
import { NO_PARAMS } from './no-params.ts'
import { responsesComplaints } from './responses-laws.ts'
import { talk } from './talk.ts'

const LOOK = {
  type: 'function',
  name: 'look',
  description: null,
  parameters: null,
  strict: false,
} as const

export interface Wire {
  readonly wire: Exclude<WireName, 'demo'>
  readonly model: string
  readonly faults: (path: string, body: JsonObject) => readonly string[]
}

export const WIRES: readonly Wire[] = [
  { wire: 'chat', model: 'm', faults: (_, body) => chatFaults(body) },
  { wire: 'responses', model: 'gpt-5', faults: (_, body) => responsesComplaints(body) },
  { wire: 'anthropic', model: 'claude-sonnet-4-5', faults: (_, body) => anthropicComplaints(body) },
  { wire: 'gemini', model: 'gemini-3.8-flash', faults: geminiFaults },
]

const POLICIES = {
  drop: resolvePolicy([{ policy: 'replay', outputs: { keepTurns: 0, step: 1 } }]),
  stub: resolvePolicy([
    { policy: 'replay', window: { items: 6 }, outputs: { keepTurns: 1, step: 1 } },
  ]),
}

/** Throws with what a provider would say. What waits at the end is sent; who refuses it, may. */
export function expectTaken(items: readonly Item[], unansweredCalls: 'drop' | 'stub'): void {
  for (const wire of WIRES) {
    const reader = { wire: wire.wire, account: wire.wire, compacts: false }
    const plan = listTransforms({ policy: POLICIES[unansweredCalls], unansweredCalls, reader })
    sentOn(wire, runTransforms(items, plan).items)
    const { path, body } = sentOn(wire, runTransforms([...items, ...QUESTION], plan).items)
    const faults = wire.faults(path, body)
    if (faults.length > 0) throw new Error(`${wire.wire}: ${faults.join('\n')}`)
  }
}

const QUESTION = talk`user: so?`

/** As bytes on the way out, and read as the upstream reads them. */
export function sentOn({ wire, model }: Pick<Wire, 'wire' | 'model'>, items: readonly Item[]) {
  const params: PromptParameters = { ...NO_PARAMS, model, tools: [LOOK] }
  const bytes = () => new Uint8Array()
  const source = { dialect: 'responses', body: { model }, bytes, items: [], params } as const
  const prompt = { items, params, stream: true, source }
  const { path, body } = PROVIDERS[wire].encode(prompt, accountOf(wire))
  const sent = new TextEncoder().encode(stringifyWellFormed(body))
  return { path, body: JSON.parse(DECODER.decode(sent)) as JsonObject }
}

const DECODER = new TextDecoder('utf-8', { fatal: true })

function accountOf(wire: WireName): Account {
  return {
    name: wire,
    wire,
    baseUrl: 'https://up.example/v1',
    apiKey: 'sk-1',
    models: ['*'],
    headers: {},
    quirks: {},
  }
}
