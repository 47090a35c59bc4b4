/**
 * Encodes conversations for each wire under several policies, and checks the result with the rules of the
 * four wires.
 */
import { resolvePolicy } from '../../src/core/context-policy.ts'
import type { Item } from '../../src/core/item.ts'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { PromptParameters } from '../../src/core/prompt.ts'
import { stringifyWellFormed } from '../../src/core/json/well-formed-json.ts'
import type { Account, WireName } from '../../src/providers/provider-interface.ts'
import { PROVIDERS } from '../../src/providers/provider-registry.ts'
import { listTransforms, runTransforms } from '../../src/context/list-and-run-transforms.ts'
import { findAnthropicFaults } from './anthropic-laws.ts'
import { findChatFaults } from './chat-laws.ts'
import { findGeminiFaults } from './gemini-laws.ts'
import { NO_PARAMS } from './empty-parameters.ts'
import { findResponsesFaults } from './responses-laws.ts'
import { talk } from './talk.ts'
import { CUTS_AT_ANY_LENGTH } from './cuts-at-any-length.ts'

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
  { wire: 'chat', model: 'm', faults: (_, body) => findChatFaults(body) },
  { wire: 'responses', model: 'gpt-5', faults: (_, body) => findResponsesFaults(body) },
  { wire: 'anthropic', model: 'claude-sonnet-4-5', faults: (_, body) => findAnthropicFaults(body) },
  { wire: 'gemini', model: 'gemini-3.8-flash', faults: findGeminiFaults },
]

const POLICIES = {
  drop: resolvePolicy([
    CUTS_AT_ANY_LENGTH,
    { policy: 'replay', outputs: { keepTurns: 0, step: 1 } },
  ]),
  stub: resolvePolicy([
    CUTS_AT_ANY_LENGTH,
    { policy: 'replay', window: { items: 6 }, outputs: { keepTurns: 1, step: 1 } },
  ]),
}

/**
 * Throws with the provider's message if a wire would reject the items. Open calls at the end are sent; a wire
 * may reject those.
 */
export function expectAccepted(items: readonly Item[], unansweredCalls: 'drop' | 'stub'): void {
  for (const wire of WIRES) {
    const reader = { wire: wire.wire, account: wire.wire, makesCompactions: false }
    const plan = listTransforms({ policy: POLICIES[unansweredCalls], unansweredCalls, reader })
    encodeForWire(wire, runTransforms(items, plan).items)
    const { path, body } = encodeForWire(wire, runTransforms([...items, ...QUESTION], plan).items)
    const faults = wire.faults(path, body)
    if (faults.length > 0) throw new Error(`${wire.wire}: ${faults.join('\n')}`)
  }
}

const QUESTION = talk`user: so?`

/** Encodes items to bytes, and parses them as the upstream does. */
export function encodeForWire(
  { wire, model }: Pick<Wire, 'wire' | 'model'>,
  items: readonly Item[],
) {
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
